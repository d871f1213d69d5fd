"""What a user can get wrong."""


class InputError(Exception):
    """Bad input: the text says what is wrong, where (file and key), and what would be valid. Exit code 2."""
