"""Plans of a study: their arithmetic (which is pure), their models, and the pages that write and show them."""
