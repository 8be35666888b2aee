/**
 * Reads the images, documents and audio clips whose source is a file, before they are sent to a model.
 *
 * @module
 */

import { describeValue } from "../../core/errors/describe_value.ts";
import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import type {
  AudioBlock,
  ContentBlock,
  DocumentBlock,
  ImageBlock,
} from "../../core/messages/content.ts";
import type { LlmMessage } from "../../core/messages/message.ts";
import type { ReadFile } from "../../core/ports/ports.ts";
import { encodeBase64 } from "../../core/text/byte_encoding.ts";

type MediaBlock = ImageBlock | DocumentBlock | AudioBlock;
type FileBlock = MediaBlock & { readonly source: { readonly type: "file" } };

/** Whether a message has a block whose source is a file. */
export function hasMediaFile(message: LlmMessage): boolean {
  return message.role !== "assistant" && message.content.some(isFileBlock);
}

/** Options for `readMediaFiles()`. */
export interface MediaFileOptions {
  /** Reads a file; none if the host has no file system. */
  readonly readFile: ReadFile | undefined;
  /** Called for a file of an earlier message that cannot be read; the request then has a text in its place. */
  readonly onUnreadable: (path: string, problem: string) => void;
}

/**
 * Replaces `file` sources by `base64` sources; each block is read once.
 *
 * @throws {BadRequestError} If a file of the last user message cannot be read. A file of an earlier message is replaced
 * by a text, so that a file that was deleted later does not end the conversation.
 */
export async function readMediaFiles(
  messages: readonly LlmMessage[],
  options: MediaFileOptions,
): Promise<LlmMessage[]> {
  const prompt = messages.findLast(({ role }) => role === "user");
  return await Promise.all(messages.map(async (message) => {
    if (!hasMediaFile(message)) return message;
    const read = message === prompt ? readBlock : readEarlierBlock;
    const content = await Promise.all(
      message.content.map((block) => isFileBlock(block) ? read(block, options) : block),
    );
    return { ...message, content };
  }));
}

function isFileBlock(block: ContentBlock): block is FileBlock {
  switch (block.type) {
    case "image":
    case "document":
    case "audio":
      return block.source.type === "file";
    default:
      return false;
  }
}

async function readEarlierBlock(
  block: FileBlock,
  options: MediaFileOptions,
): Promise<ContentBlock> {
  try {
    return await readBlock(block, options);
  } catch (thrown) {
    const { path } = block.source;
    options.onUnreadable(path, getErrorMessage(thrown));
    return { type: "text", text: `[The ${block.type} "${path}" is no longer available.]` };
  }
}

/** The blocks that were read, so that a file is not read again for every model call. */
const readBlocks = new WeakMap<FileBlock, MediaBlock>();

async function readBlock(block: FileBlock, { readFile }: MediaFileOptions): Promise<MediaBlock> {
  const cached = readBlocks.get(block);
  if (cached) return cached;
  const { path } = block.source;
  if (!readFile) {
    throw new BadRequestError(
      `Cannot read the ${block.type} "${path}": no readFile port is configured: pass \`readFile\`, or pass the ${block.type} as base64`,
    );
  }
  try {
    const bytes = await readFile(path);
    // Not with instanceof: the bytes may be of another realm.
    if (bytes?.[Symbol.toStringTag] !== "Uint8Array") {
      throw new TypeError(`readFile must return a Uint8Array, not ${describeValue(bytes)}`);
    }
    const read = await withData(block, bytes);
    readBlocks.set(block, read);
    return read;
  } catch (cause) {
    throw new BadRequestError(
      `Cannot read the ${block.type} "${path}": ${getErrorMessage(cause)}`,
      { cause },
    );
  }
}

async function withData(block: FileBlock, bytes: Uint8Array): Promise<MediaBlock> {
  const data = encodeBase64(bytes);
  if (block.type !== "image") return { ...block, source: { type: "base64", data } };
  // A program starts sooner without the formats of images.
  const { getImageType } = await import("./image_type.ts");
  const { path, mediaType = getImageType(bytes, path) } = block.source;
  return { ...block, source: { type: "base64", mediaType, data } };
}
