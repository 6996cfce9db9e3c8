"""Results for the eye: tables for the terminal, pictures for files."""
