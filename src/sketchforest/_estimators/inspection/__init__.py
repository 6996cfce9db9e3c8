"""What a fitted estimator tells about itself: explanations, names, descriptions."""
