import { PhotonImage } from "@cf-wasm/photon/node";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { createExif } from "../../../tests/sandbox/exif.ts";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { findWorkerProcesses, waitForBusyWorker } from "../../../tests/sandbox/worker_processes.ts";
import { decodeBase64 } from "../../core/text/byte_encoding.ts";
import { readImageSize } from "./image_header.ts";

const encoder = new TextEncoder();

/** Creates a grey PNG image, with a text of some bytes. */
async function createPng(width: number, height: number, textBytes = 0): Promise<Uint8Array> {
  const header = new DataView(new ArrayBuffer(13));
  header.setUint32(0, width);
  header.setUint32(4, height);
  header.setUint8(8, 8);
  const pixels = new Blob([new Uint8Array((width + 1) * height)]).stream();
  const compressed = await new Response(pixels.pipeThrough(new CompressionStream("deflate")))
    .arrayBuffer();
  return concatenate(
    new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    createChunk("IHDR", new Uint8Array(header.buffer)),
    ...(textBytes > 0 ? [createChunk("tEXt", new Uint8Array(textBytes).fill(0x61))] : []),
    createChunk("IDAT", new Uint8Array(compressed)),
    createChunk("IEND", new Uint8Array()),
  );
}

function createChunk(name: string, content: Uint8Array): Uint8Array {
  const body = concatenate(encoder.encode(name), content);
  return concatenate(toBytes(content.length), body, toBytes(getChecksum(body)));
}

function toBytes(value: number): Uint8Array {
  return new Uint8Array([value >>> 24, value >>> 16, value >>> 8, value]);
}

function getChecksum(bytes: Uint8Array): number {
  let checksum = 0xffffffff;
  for (const byte of bytes) {
    checksum ^= byte;
    for (let bit = 0; bit < 8; bit++) {
      checksum = checksum & 1 ? (checksum >>> 1) ^ 0xedb88320 : checksum >>> 1;
    }
  }
  return (checksum ^ 0xffffffff) >>> 0;
}

function concatenate(...parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

Deno.test("read_file: scales an image down that is too wide for providers", async () => {
  await using workspace = new TestWorkspace();
  workspace.writeFile("wide.png", await createPng(9_000, 30));
  const { text, result } = await workspace.callTool("read_file", { path: "wide.png" });
  assertStringIncludes(text, "9000 × 30 pixels");
  assertStringIncludes(text, "shown scaled down to 2000 × 7 pixels");
  const [, image] = result.content;
  const source = image?.type === "image" && image.source.type === "base64"
    ? image.source
    : undefined;
  assertEquals(source?.mediaType, "image/jpeg");
  assertEquals(readImageSize(decodeBase64(source?.data ?? ""), "image/jpeg"), {
    width: 2_000,
    height: 7,
  });
});

Deno.test("read_file: scales an image down of which a provider rejects many, and one with too many bytes", async () => {
  await using workspace = new TestWorkspace();
  const readSize = async (...size: Parameters<typeof createPng>) => {
    workspace.writeFile("image.png", await createPng(...size));
    const { text } = await workspace.callTool("read_file", { path: "image.png" });
    return /shown scaled down to (.*) pixels/.exec(text)?.[1];
  };
  assertEquals(await readSize(2_000, 20), undefined);
  assertEquals(await readSize(20, 2_500), "16 × 2000");
  assertEquals(await readSize(20, 20, 3_800_000), "20 × 20");
});

Deno.test("read_file: rejects an image that is too large and cannot be decoded, with a reason", async () => {
  await using workspace = new TestWorkspace();
  const png = await createPng(9_000, 3);
  png.fill(0xff, 50, 60);
  workspace.writeFile("bad.png", png);
  const { isError, text } = await workspace.callTool("read_file", { path: "bad.png" });
  assertEquals(isError, true);
  assertStringIncludes(text, "The image can");
});

Deno.test("read_file: returns an image that cannot be decoded as it is, unless providers reject it", async () => {
  await using workspace = new TestWorkspace();
  const png = await createPng(2_500, 3);
  png.fill(0xff, 50, 60);
  workspace.writeFile("bad.png", png);
  const { isError, text, result } = await workspace.callTool("read_file", { path: "bad.png" });
  assertEquals([isError, text.includes("scaled")], [false, false]);
  assertEquals(result.content[1]?.type, "image");
});

Deno.test("read_file: shows a drawing without background on white when it scales it down", async () => {
  await using workspace = new TestWorkspace();
  const [width, height] = [2_500, 50];
  const isDrawn = (index: number) => Math.floor(index / width) >= 25;
  const pixels = new Uint8Array(width * height * 4); // black
  for (let index = 0; index < width * height; index++) {
    pixels[index * 4 + 3] = isDrawn(index) ? 255 : 0;
  }
  workspace.writeFile("drawing.png", new PhotonImage(pixels, width, height).get_bytes());
  const { result } = await workspace.callTool("read_file", { path: "drawing.png" });
  const [, image] = result.content;
  const source = image?.type === "image" && image.source.type === "base64"
    ? image.source
    : undefined;
  const shown = PhotonImage.new_from_byteslice(decodeBase64(source?.data ?? "")).get_raw_pixels();
  assertEquals([...shown.slice(0, 4)], [255, 255, 255, 255]);
  assertEquals([...shown.slice(-4)], [0, 0, 0, 255]);
});

Deno.test("read_file: shows a photo upright when it scales it down", async () => {
  await using workspace = new TestWorkspace();
  const [width, height] = [2_500, 50];
  const pixels = new Uint8Array(width * height * 4).fill(255);
  for (let index = 0; index < width * height; index++) {
    // The left half, which is the top of the photo, is black.
    if (index % width < width / 2) pixels.fill(0, index * 4, index * 4 + 3);
  }
  const jpeg = new PhotonImage(pixels, width, height).get_bytes_jpeg(90);
  workspace.writeFile("photo.jpg", concatenate(createExif(6), jpeg.slice(2)));
  const { text, result } = await workspace.callTool("read_file", { path: "photo.jpg" });
  assertStringIncludes(text, "shown scaled down to 40 × 2000 pixels");
  const [, image] = result.content;
  const source = image?.type === "image" && image.source.type === "base64"
    ? image.source
    : undefined;
  const shown = PhotonImage.new_from_byteslice(decodeBase64(source?.data ?? "")).get_raw_pixels();
  assertEquals([...shown.slice(0, 4)], [0, 0, 0, 255]);
  assertEquals([...shown.slice(-4)], [255, 255, 255, 255]);
});

/** A progressive JPEG image of 100 million pixels with many scans, each of which takes as long as one of all pixels. */
function createSlowJpeg(): Uint8Array {
  const zeros = (length: number): number[] => Array<number>(length).fill(0);
  const [height, width] = [9_900, 10_000];
  const blocks = Math.ceil(height / 8) * Math.ceil(width / 8);
  const createTable = (type: number, symbol: number) => [
    ...[0xff, 0xc4, 0, 20, type, 1, ...zeros(15), symbol],
  ];
  const createScan = (first: number, length: number) => [
    ...[0xff, 0xda, 0, 8, 1, 1, 0, first, first, 0, ...zeros(length)],
  ];
  return new Uint8Array([
    ...[0xff, 0xd8, 0xff, 0xdb, 0, 67, 0, ...zeros(64).fill(1)],
    ...[0xff, 0xc2, 0, 11, 8, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0],
    // Each symbol has one bit; the second one ends 2 ** 14 blocks.
    ...[...createTable(0, 0), ...createTable(0x10, 0xe0), ...createScan(0, Math.ceil(blocks / 8))],
    ...Array.from({ length: 2_000 }, (_, index) => createScan(1 + index % 63, 190)).flat(),
    ...[0xff, 0xd9],
  ]);
}

Deno.test({
  name: "read_file: an abort ends the process that decodes a slow image",
  ignore: Deno.build.os !== "linux", // without the processes of /proc
  async fn() {
    await using workspace = new TestWorkspace();
    workspace.writeFile("slow.jpg", createSlowJpeg());
    const controller = new AbortController();
    const others = await findWorkerProcesses("image_worker");
    const call = workspace.callTool("read_file", { path: "slow.jpg" }, controller.signal);
    const id = await waitForBusyWorker("image_worker", { others });
    controller.abort();
    assertStringIncludes((await call).text, "cancelled");
    assertEquals((await findWorkerProcesses("image_worker")).includes(id), false);
  },
});
