/**
 * Worker that scales images down.
 *
 * @module
 */

import type { PhotonImage, resize } from "@cf-wasm/photon/node";
import { getErrorMessage } from "../../core/errors/errors.ts";
import { getParentThread, READY_MESSAGE } from "../../platform/worker.ts";
import { readOrientation, turnUpright } from "./image_orientation.ts";
import { loadNpmPackage } from "./npm_package.ts";

/** The used part of `@cf-wasm/photon`. */
interface PhotonPackage {
  readonly PhotonImage: typeof PhotonImage;
  readonly resize: typeof resize;
  readonly SamplingFilter: { readonly Triangle: number };
}

/** Message to the worker. */
export interface ImageRequest {
  /** Content of the file. */
  readonly bytes: Uint8Array;
  /** Maximum width and height of the result in pixels. */
  readonly maxPixels: number;
}

/** Reply of the worker: the scaled image as JPEG, or the reason why the image or the package cannot be read. */
export type ImageReply =
  | {
    readonly type: "scaled";
    readonly bytes: Uint8Array;
    readonly width: number;
    readonly height: number;
  }
  | { readonly type: "failed" | "package_missing"; readonly reason: string };

const JPEG_QUALITY = 85;

/** Highest value of a color or of opacity. */
const OPAQUE = 255;

const parent = getParentThread();

async function loadPackage(): Promise<PhotonPackage> {
  try {
    return await loadNpmPackage("@cf-wasm/photon", "/node") as PhotonPackage;
  } finally {
    parent.postMessage(READY_MESSAGE);
  }
}

async function reply(loading: Promise<PhotonPackage>, request: ImageRequest): Promise<ImageReply> {
  let loaded: PhotonPackage;
  try {
    loaded = await loading;
  } catch (error) {
    return { type: "package_missing", reason: getErrorMessage(error) };
  }
  try {
    return scale(loaded, request);
  } catch (error) {
    return { type: "failed", reason: getErrorMessage(error) };
  }
}

function scale(
  { PhotonImage, resize, SamplingFilter }: PhotonPackage,
  { bytes, maxPixels }: ImageRequest,
): ImageReply {
  const image = PhotonImage.new_from_byteslice(bytes);
  const [width, height] = [image.get_width(), image.get_height()];
  const factor = Math.min(1, maxPixels / Math.max(width, height));
  const size = [width, height].map((pixels) => Math.max(1, Math.round(pixels * factor)));
  const [scaledWidth = 1, scaledHeight = 1] = size;
  const scaled = resize(image, scaledWidth, scaledHeight, SamplingFilter.Triangle);
  const pixels = addBackground(scaled.get_raw_pixels());
  const upright = turnUpright(
    { bytes: pixels, width: scaledWidth, height: scaledHeight },
    readOrientation(bytes),
  );
  const shown = new PhotonImage(upright.bytes, upright.width, upright.height);
  return { ...upright, type: "scaled", bytes: shown.get_bytes_jpeg(JPEG_QUALITY) };
}

/** Puts pixels, of four bytes each, on white: JPEG has no transparency, and the usual black drawing would be on black. */
function addBackground(pixels: Uint8Array): Uint8Array {
  for (let index = 0; index < pixels.length; index += 4) {
    const opacity = (pixels[index + 3] ?? OPAQUE) / OPAQUE;
    if (opacity === 1) continue;
    for (let color = index; color < index + 3; color++) {
      pixels[color] = Math.round((pixels[color] ?? 0) * opacity + OPAQUE * (1 - opacity));
    }
    pixels[index + 3] = OPAQUE;
  }
  return pixels;
}

const loading = loadPackage();
loading.catch(() => {}); // reported as a reply
parent.onMessage((message) => {
  void reply(loading, message as ImageRequest).then((reply) => parent.postMessage(reply));
});
