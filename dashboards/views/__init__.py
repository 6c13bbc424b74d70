"""What each page shows, as frozen values made by pure functions from what the store's named reads returned."""
