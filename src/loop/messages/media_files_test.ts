import { assertEquals, assertRejects } from "@std/assert";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { ImageBlock } from "../../core/messages/content.ts";
import type { LlmMessage } from "../../core/messages/message.ts";
import type { ReadFile } from "../../core/ports/ports.ts";
import { hasMediaFile, readMediaFiles } from "./media_files.ts";

function createImageMessage(path: string, mediaType?: string): LlmMessage {
  const source = { type: "file", path, ...(mediaType && { mediaType }) } as const;
  const image: ImageBlock = { type: "image", source };
  return { role: "user", content: [{ type: "text", text: "See" }, image], timestamp: 0 };
}

const plain: LlmMessage = { role: "user", content: [{ type: "text", text: "Hi" }], timestamp: 0 };
const readFiles = (messages: readonly LlmMessage[], readFile: ReadFile | undefined) =>
  readMediaFiles(messages, { readFile, onUnreadable: () => {} });
const readBytes = () => Promise.resolve(new Uint8Array([1, 2, 3]));

Deno.test("readMediaFiles() replaces image files with base64 data and keeps other messages", async () => {
  const messages = [
    plain,
    createImageMessage("a.JPG"),
    createImageMessage("b.webp"),
    createImageMessage("c", "image/gif"),
  ];
  const read = await readFiles(messages, readBytes);
  assertEquals(read[0], plain);
  const sources = read.slice(1).map(({ content }) =>
    content[1]?.type === "image" ? content[1].source : undefined
  );
  assertEquals(sources, [
    { type: "base64", mediaType: "image/jpeg", data: "AQID" },
    { type: "base64", mediaType: "image/webp", data: "AQID" },
    { type: "base64", mediaType: "image/gif", data: "AQID" },
  ]);
  assertEquals(hasMediaFile(messages[1] ?? plain), true, "the input is not modified");
  assertEquals(read.some(hasMediaFile), false);
});

Deno.test("readMediaFiles() rejects with BadRequestError when a file is unreadable or no port is configured", async () => {
  const missing = () => Promise.reject(new Error("no such file"));
  await assertRejects(
    () => readFiles([createImageMessage("a.png")], missing),
    BadRequestError,
    'Cannot read the image "a.png": no such file',
  );
  await assertRejects(
    () => readFiles([createImageMessage("a.png")], undefined),
    BadRequestError,
    "readFile port",
  );
});

const INVALID_BYTES: readonly (readonly [values: readonly unknown[], kind: string])[] = [
  [["bytes"], '"bytes"'],
  [[{}, new DataView(new ArrayBuffer(8))], "an object"],
  [[undefined], "undefined"],
];

for (const [values, kind] of INVALID_BYTES) {
  Deno.test(`readMediaFiles() rejects with BadRequestError when readFile returns ${kind}`, async () => {
    for (const value of values) {
      await assertRejects(
        () => readFiles([createImageMessage("a.png")], () => Promise.resolve(value as never)),
        BadRequestError,
        `Cannot read the image "a.png": readFile must return a Uint8Array, not ${kind}`,
      );
    }
  });
}

Deno.test("readMediaFiles() encodes images of any size without Uint8Array.prototype.toBase64()", async () => {
  const large = Uint8Array.from({ length: 100_000 }, (_, index) => index % 256);
  const expected = large.toBase64();
  const { toBase64 } = Uint8Array.prototype;
  Reflect.deleteProperty(Uint8Array.prototype, "toBase64");
  try {
    const [message] = await readFiles(
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

Deno.test("readMediaFiles() reads documents and audio clips, and keeps their other properties", async () => {
  const document = {
    type: "document",
    source: { type: "file", path: "a.pdf" },
    mediaType: "application/pdf",
    name: "a",
  } as const;
  const audio = {
    type: "audio",
    source: { type: "file", path: "a.wav" },
    mediaType: "audio/wav",
  } as const;
  const [message] = await readFiles(
    [{ role: "user", content: [document, audio], timestamp: 0 }],
    readBytes,
  );
  const source = { type: "base64", data: "AQID" } as const;
  assertEquals(message?.content, [{ ...document, source }, { ...audio, source }]);
});

Deno.test("readMediaFiles() reads a block once, also for later requests", async () => {
  let reads = 0;
  const readFile = () => {
    reads++;
    return readBytes();
  };
  const messages = [createImageMessage("once.png")];
  await readFiles(messages, readFile);
  await readFiles(messages, readFile);
  assertEquals(reads, 1);
});

Deno.test("readMediaFiles() replaces an unreadable file of an earlier message with a text", async () => {
  const unreadable: string[] = [];
  const messages = [createImageMessage("deleted.png"), plain];
  const [first] = await readMediaFiles(messages, {
    readFile: () => Promise.reject(new Error("no such file")),
    onUnreadable: (path) => void unreadable.push(path),
  });
  assertEquals(first?.content[1], {
    type: "text",
    text: '[The image "deleted.png" is no longer available.]',
  });
  assertEquals(unreadable, ["deleted.png"]);
});
