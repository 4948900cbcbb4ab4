"""Images: resizing, colours, flips and crops, boxes, quality, random changes."""
