"""One room a lesson: its pictures, experiments and words. `pages/` puts them in order."""
