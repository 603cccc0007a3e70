# part of the fingerprint of static files
