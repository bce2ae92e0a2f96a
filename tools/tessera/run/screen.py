# SPDX-License-Identifier: Apache-2.0
"""The picture of the shared screen: the simulated fabric writes the last frame as PPM, users want PNG."""

from pathlib import Path

FRAMES = ".ppm"


def frames_of(picture: Path) -> Path:
    """Returns the file into which the fabric writes frames for a picture."""
    return picture.with_suffix(FRAMES)


def save_picture(picture: Path, scale: int = 1) -> bool:
    """Writes the last frame into `picture`, in the format that its name says; each pixel becomes `scale` x `scale`.
    Returns False if no frame was sent."""
    from PIL import Image  # not for systems without a screen

    frames = frames_of(picture)
    if not frames.exists() or frames.stat().st_size == 0:
        return False
    with Image.open(frames) as image:
        size = (image.width * scale, image.height * scale)
        image.resize(size, Image.Resampling.NEAREST).save(picture)
    return True
