"""A card is a screen: words, controls and a picture, and what a click on it opens."""
