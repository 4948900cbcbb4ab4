"""What networks are made of: activations, convolutions, pools, normalisation, dropout, losses."""
