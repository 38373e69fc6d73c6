"""Pretrained encoders behind three protocols: text, image, speech. Nothing here downloads anything."""
