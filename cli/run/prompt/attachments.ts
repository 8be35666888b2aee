/**
 * Files that are added to the prompt: images of `--image`, and files that the prompt names as `@path`.
 *
 * @module
 */

import type { ImageBlock, PromptInput } from "../../../mod.ts";
import { AbortedError, AgentError, getErrorMessage } from "../../../src/core/errors/errors.ts";
import { pathExists } from "../../../src/platform/path_exists.ts";
import { dirname, isAbsolute, join } from "../../../src/platform/paths.ts";
import { readUntrustedFile } from "../../../src/platform/untrusted_file.ts";
import type { UntrustedRead } from "../../../src/platform/untrusted_read.ts";
import {
  createImageContent,
  type ImageContentOptions,
} from "../../../src/tools/documents/image_content.ts";
import { detectFileKind, SNIFF_BYTES } from "../../../src/tools/text/file_kind.ts";
import { UsageError } from "../../host/cli_error.ts";
import { getFileProblem } from "../../host/file_problem.ts";
import { isPipe, readPipeBytes } from "../../host/read_text_file.ts";
import { isProtectedFile } from "../../project/protected_file.ts";

/** Options for `addAttachments()`. */
export interface AttachmentOptions {
  /** Absolute path of the working directory, which `@path` is relative to and must be in. */
  readonly cwd: string;
  /** Absolute paths of images. */
  readonly images: readonly string[];
  /** The part of the prompt that the user has typed; text from elsewhere must not select files. */
  readonly typed: string;
  /** Ends the reading. */
  readonly signal: AbortSignal;
  /** Called for each file that the prompt names and that is not added, with a sentence without a full stop. */
  readonly onWarning: (warning: string) => void | Promise<void>;
}

/** Maximum size of an image file. */
const MAX_IMAGE_BYTES = 100_000_000;

/** Maximum size of the text of a file; the model can read larger ones itself, in parts. */
const MAX_TEXT_BYTES = 100_000;

/**
 * Adds files to a prompt.
 *
 * The text of a file that the prompt names follows it between `<file path="…">` and `</file>`. A name that is no file
 * stays as it is, since `@name` may be a person or a package. So does, with a warning, a file that usually holds secrets,
 * and one that is too large or no text, which the model can read with its tools.
 *
 * @throws {UsageError} If an image of the options cannot be read.
 */
export async function addAttachments(
  prompt: string,
  options: AttachmentOptions,
): Promise<PromptInput> {
  const images: ImageBlock[] = [];
  const texts: string[] = [];
  for (const path of options.images) images.push(await readImage(path, options));
  for (const path of findReferences(options.typed)) {
    const reference = await readReference(path, options);
    switch (reference.type) {
      case "text":
        texts.push(`<file path=${JSON.stringify(path)}>\n${reference.text.trimEnd()}\n</file>`);
        break;
      case "image":
        images.push(reference.image);
        break;
      case "refused":
        await options.onWarning(`@${path} was not added: it ${reference.reason}`);
        break;
      case "missing":
        break;
    }
  }
  const text = [prompt, ...texts].join("\n\n");
  return images.length === 0 ? text : { text, images };
}

/** Returns the paths that a prompt names as `@path` or `@"path with blanks"`, without duplicates. */
export function findReferences(prompt: string): string[] {
  const matches = prompt.matchAll(/(?<!\S)@(?:"([^"\n]+)"|([^\s"@]+))/g);
  const paths = Array.from(matches, ([, quoted, word = ""]) => quoted ?? trimPunctuation(word));
  return [...new Set(paths.filter((path) => path !== ""))];
}

/** A sentence may end after a path. */
function trimPunctuation(word: string): string {
  return word.replace(/(?<![.,;:!?)\]])[.,;:!?)\]]+$/, "");
}

async function readImage(
  path: string,
  { signal }: Pick<AttachmentOptions, "signal">,
): Promise<ImageBlock> {
  const fail = (reason: string) =>
    new UsageError(`Invalid value ${JSON.stringify(path)} for --image: ${reason}`);
  const read = isPipe(path) ? await readPiped(path, signal) : await readUntrustedFile(path, {
    within: dirname(await Deno.realPath(path).catch(() => path)),
    maxBytes: MAX_IMAGE_BYTES,
    signal,
  });
  if (read.type === "missing") throw fail("the file does not exist");
  if (read.type === "refused") throw fail(`the file ${read.reason}`);
  const mediaType = getImageType(read.bytes);
  if (mediaType === undefined) throw fail("must be a PNG, JPEG, GIF or WebP image");
  try {
    return (await createImageContent(read.bytes, { mediaType, path, signal })).block;
  } catch (error) {
    throw AgentError.is(error) ? fail(getErrorMessage(error)) : error;
  }
}

/** Reads a pipe, such as that of `<(command)`. @throws {AbortedError} When `signal` is aborted. */
async function readPiped(path: string, signal: AbortSignal): Promise<UntrustedRead> {
  try {
    const bytes = await readPipeBytes(path, signal, MAX_IMAGE_BYTES);
    if (bytes) return { type: "content", bytes };
  } catch (error) {
    return { type: "refused", reason: `cannot be read: ${getFileProblem(error)}` };
  }
  throw new AbortedError("The image was not read");
}

/** A file that a prompt names, or the reason why it is not added, as a sentence fragment. */
type Reference =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly image: ImageBlock }
  | { readonly type: "refused"; readonly reason: string }
  | { readonly type: "missing" };

/** Reads a file of the working directory. */
async function readReference(
  path: string,
  { cwd, signal }: Pick<AttachmentOptions, "cwd" | "signal">,
): Promise<Reference> {
  const file = isAbsolute(path) ? join(path) : join(cwd, path);
  if (!pathExists(file)) return { type: "missing" };
  if (await isProtectedFile(file, cwd)) {
    return createRefusal("is outside of the working directory, or usually holds secrets");
  }
  const read = await readUntrustedFile(file, { within: cwd, maxBytes: MAX_IMAGE_BYTES, signal });
  if (read.type !== "content") return read;
  const { bytes } = read;
  const kind = detectFileKind(bytes.subarray(0, SNIFF_BYTES));
  if (kind.type === "image") return await decodeImage(bytes, { ...kind, path, signal });
  if (kind.type !== "text") return createRefusal("is neither text nor an image");
  if (bytes.length > MAX_TEXT_BYTES) {
    return createRefusal(`is larger than ${MAX_TEXT_BYTES / 1000} kB`);
  }
  return decodeText(bytes);
}

function createRefusal(reason: string): Reference {
  return { type: "refused", reason };
}

async function decodeImage(
  bytes: Uint8Array,
  { mediaType, path, signal }: ImageContentOptions,
): Promise<Reference> {
  try {
    const { block } = await createImageContent(bytes, { mediaType, path, signal });
    return { type: "image", image: block };
  } catch (error) {
    if (AgentError.is(error)) return createRefusal(`cannot be read: ${error.message}`);
    throw error;
  }
}

function decodeText(bytes: Uint8Array): Reference {
  try {
    return { type: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return createRefusal("is no text in UTF-8");
  }
}

function getImageType(bytes: Uint8Array): string | undefined {
  const kind = detectFileKind(bytes.subarray(0, SNIFF_BYTES));
  return kind.type === "image" ? kind.mediaType : undefined;
}
