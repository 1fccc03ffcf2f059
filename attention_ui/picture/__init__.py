"""One picture for every matrix: a layout places steps, one specification draws their cells."""
