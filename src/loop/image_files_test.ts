import { assertEquals, assertRejects } from "@std/assert";
import type { ImageBlock } from "../core/content.ts";
import { BadRequestError } from "../core/errors.ts";
import type { LlmMessage } from "../core/message.ts";
import { hasImageFile, readImageFiles } from "./image_files.ts";

function createImageMessage(path: string, mediaType?: string): LlmMessage {
  const source = { type: "file", path, ...(mediaType && { mediaType }) } as const;
  const image: ImageBlock = { type: "image", source };
  return { role: "user", content: [{ type: "text", text: "See" }, image], timestamp: 0 };
}

const plain: LlmMessage = { role: "user", content: [{ type: "text", text: "Hi" }], timestamp: 0 };
const readBytes = () => Promise.resolve(new Uint8Array([1, 2, 3]));

Deno.test("readImageFiles() replaces image files with base64 data and keeps other messages", async () => {
  const messages = [
    plain,
    createImageMessage("a.JPG"),
    createImageMessage("b.webp"),
    createImageMessage("c", "image/gif"),
  ];
  const read = await readImageFiles(messages, readBytes);
  assertEquals(read[0], plain);
  const sources = read.slice(1).map(({ content }) =>
    content[1]?.type === "image" ? content[1].source : undefined
  );
  assertEquals(sources, [
    { type: "base64", mediaType: "image/jpeg", data: "AQID" },
    { type: "base64", mediaType: "image/webp", data: "AQID" },
    { type: "base64", mediaType: "image/gif", data: "AQID" },
  ]);
  assertEquals(hasImageFile(messages[1] ?? plain), true, "the input is not modified");
  assertEquals(read.some(hasImageFile), false);
});

Deno.test("readImageFiles() rejects with BadRequestError when a file is unreadable or no port is configured", async () => {
  const missing = () => Promise.reject(new Error("no such file"));
  await assertRejects(
    () => readImageFiles([createImageMessage("a.png")], missing),
    BadRequestError,
    'Cannot read the image "a.png": no such file',
  );
  await assertRejects(
    () => readImageFiles([createImageMessage("a.png")], undefined),
    BadRequestError,
    "readFile port",
  );
});

Deno.test("readImageFiles() encodes images of any size without Uint8Array.prototype.toBase64()", async () => {
  const large = Uint8Array.from({ length: 100_000 }, (_, index) => index % 256);
  const expected = large.toBase64();
  const { toBase64 } = Uint8Array.prototype;
  Reflect.deleteProperty(Uint8Array.prototype, "toBase64");
  try {
    const [message] = await readImageFiles(
      [createImageMessage("a.png")],
      () => Promise.resolve(large),
    );
    const block = message?.content[1];
    assertEquals(
      block?.type === "image" && block.source.type === "base64" && block.source.data,
      expected,
    );
  } finally {
    Object.defineProperty(Uint8Array.prototype, "toBase64", {
      value: toBase64,
      configurable: true,
      writable: true,
    });
  }
});
