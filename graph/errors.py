"""What a user can get wrong."""


class InputError(Exception):
    """Bad input: the text says what is wrong, where (file and key), and what would be valid. Exit code 2."""


def why(error: OSError) -> str:
    """What the system says of a file, in small letters to stand behind a colon."""
    return (error.strerror or str(error)).lower()
