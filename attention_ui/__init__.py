"""What the pages share on screen: the lesson frame, settings, charts, the cell inspector."""
