"""One local page for all of it: a FastAPI app, a static page without build step, nothing loaded from elsewhere."""
