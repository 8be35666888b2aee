import { assertEquals, assertRejects } from "@std/assert";
import type { ImageBlock } from "../core/content.ts";
import { BadRequestError } from "../core/errors.ts";
import type { LlmMessage } from "../core/message.ts";
import { hasImageFile, readImageFiles } from "./image_files.ts";

function showing(path: string, mediaType?: string): LlmMessage {
  const source = { type: "file", path, ...(mediaType && { mediaType }) } as const;
  const image: ImageBlock = { type: "image", source };
  return { role: "user", content: [{ type: "text", text: "See" }, image], timestamp: 0 };
}

const plain: LlmMessage = { role: "user", content: [{ type: "text", text: "Hi" }], timestamp: 0 };
const bytes = () => Promise.resolve(new Uint8Array([1, 2, 3]));

Deno.test("readImageFiles() adds bytes and media type to image files and leaves the rest unchanged", async () => {
  const given = [plain, showing("a.JPG"), showing("b.webp"), showing("c", "image/gif")];
  const read = await readImageFiles(given, bytes);
  assertEquals(read[0], plain);
  const sources = read.slice(1).map(({ content }) =>
    content[1]?.type === "image" ? content[1].source : undefined
  );
  assertEquals(sources, [
    { type: "base64", mediaType: "image/jpeg", data: "AQID" },
    { type: "base64", mediaType: "image/webp", data: "AQID" },
    { type: "base64", mediaType: "image/gif", data: "AQID" },
  ]);
  assertEquals(
    hasImageFile(given[1] ?? plain),
    true,
    "the messages that were given are not changed",
  );
  assertEquals(read.some(hasImageFile), false);
});

Deno.test("readImageFiles() rejects with a bad_request that names the unreadable file", async () => {
  const missing = () => Promise.reject(new Error("no such file"));
  await assertRejects(
    () => readImageFiles([showing("a.png")], missing),
    BadRequestError,
    'Cannot read the image "a.png": no such file',
  );
  await assertRejects(
    () => readImageFiles([showing("a.png")], undefined),
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
    const [message] = await readImageFiles([showing("a.png")], () => Promise.resolve(large));
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
