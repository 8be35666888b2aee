/**
 * The header of a GGUF file: its metadata, and the place and size of its tensors.
 *
 * llama.cpp ends the process for some invalid files, so that a file is checked before it is loaded.
 * Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import { system } from "../../platform/system.ts";
import { ByteSource, InvalidFileError } from "./byte_source.ts";
import { checkDimensions } from "./check_dimensions.ts";
import { decodeSpacedToken } from "./spaced_tokens.ts";

/** The header of a GGUF file. */
export interface GgufHeader {
  /** Size of the file in bytes. */
  readonly fileSize: number;
  /** Metadata with a single value, by key: `general.architecture`. */
  readonly metadata: ReadonlyMap<string, string | number | boolean>;
  /** Lists of integers among the metadata that are as long as a model has layers at most, by key. */
  readonly lists: ReadonlyMap<string, readonly number[]>;
  /** Number of entries of the vocabulary. */
  readonly vocabularySize: number;
  /** Texts of tokens with a space before a punctuation mark, by their ids. */
  readonly spacedTokens: ReadonlyMap<number, string>;
  /** Names of the tensors. */
  readonly tensorNames: ReadonlySet<string>;
}

const VERSIONS: readonly number[] = [2, 3];
const MAX_TEXT_BYTES = 1 << 24;
/** llama.cpp accepts names of tensors with 64 bytes. */
const MAX_NAME_BYTES = 256;
const MAX_ENTRIES = 1 << 16;
const MAX_TENSORS = 1 << 16;
const MAX_LIST_LENGTH = 1 << 22;
/** Lists up to this length are kept. */
const MAX_KEPT_LENGTH = 1024;
/** Tokens of the bytes of characters that are no tokens. */
const BYTE_TOKENS: readonly string[] = Array.from(
  { length: 256 },
  (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`,
);
const STRING_TYPE = 8;
const ARRAY_TYPE = 9;

interface NumberType {
  readonly size: number;
  readonly read: (view: DataView, offset: number) => number;
}

/** Types of numbers by their ids; a boolean is a number of one byte. */
const NUMBER_TYPES: Readonly<Record<number, NumberType>> = {
  0: { size: 1, read: (view, offset) => view.getUint8(offset) },
  1: { size: 1, read: (view, offset) => view.getInt8(offset) },
  2: { size: 2, read: (view, offset) => view.getUint16(offset, true) },
  3: { size: 2, read: (view, offset) => view.getInt16(offset, true) },
  4: { size: 4, read: (view, offset) => view.getUint32(offset, true) },
  5: { size: 4, read: (view, offset) => view.getInt32(offset, true) },
  6: { size: 4, read: (view, offset) => view.getFloat32(offset, true) },
  7: { size: 1, read: (view, offset) => view.getUint8(offset) },
  10: { size: 8, read: (view, offset) => Number(view.getBigUint64(offset, true)) },
  11: { size: 8, read: (view, offset) => Number(view.getBigInt64(offset, true)) },
  12: { size: 8, read: (view, offset) => view.getFloat64(offset, true) },
};
const BOOLEAN_TYPE = 7;

/** Elements per block and bytes per block of the tensor types of ggml, by their ids. */
const TENSOR_TYPES: Readonly<Record<number, readonly [elements: number, bytes: number]>> = {
  0: [1, 4],
  1: [1, 2],
  2: [32, 18],
  3: [32, 20],
  6: [32, 22],
  7: [32, 24],
  8: [32, 34],
  9: [32, 36],
  10: [256, 84],
  11: [256, 110],
  12: [256, 144],
  13: [256, 176],
  14: [256, 210],
  15: [256, 292],
  16: [256, 66],
  17: [256, 74],
  18: [256, 98],
  19: [256, 50],
  20: [32, 18],
  21: [256, 110],
  22: [256, 82],
  23: [256, 136],
  24: [1, 1],
  25: [1, 2],
  26: [1, 4],
  27: [1, 8],
  28: [1, 8],
  29: [256, 56],
  30: [1, 2],
  34: [256, 54],
  35: [256, 66],
  39: [32, 17],
};

/**
 * Reads and checks the header of a GGUF file.
 *
 * @throws {BadRequestError} If the file cannot be read, is incomplete, or is no GGUF file that llama.cpp can load.
 */
export async function readGgufHeader(path: string): Promise<GgufHeader> {
  try {
    // Opening a named pipe would wait for its writer.
    const { isFile, size } = await system.stat(path);
    if (!isFile) throw new InvalidFileError("it is no file");
    using file = await system.open(path);
    return readHeader(new ByteSource(file, size), size);
  } catch (error) {
    const reason = error instanceof InvalidFileError ? error.message : getErrorMessage(error);
    throw new BadRequestError(`Cannot load the model ${path}: ${reason}`, { cause: error });
  }
}

function readHeader(source: ByteSource, fileSize: number): GgufHeader {
  if (fileSize < 24 || source.readUint32() !== 0x46554747) {
    throw new InvalidFileError("it is no GGUF file");
  }
  const version = source.readUint32();
  if (!VERSIONS.includes(version)) {
    throw new InvalidFileError(`its GGUF version ${version} is not supported`);
  }
  const tensors = limit(source.readUint64(), MAX_TENSORS, "tensors");
  const entries = limit(source.readUint64(), MAX_ENTRIES, "metadata");
  const contents = new HeaderContents();
  for (let entry = 0; entry < entries; entry++) contents.readEntry(source);
  const { metadata } = contents;
  checkParts(metadata);
  contents.checkVocabulary();
  const tensorNames = readTensors(source, { tensors, fileSize, metadata });
  const header = { fileSize, tensorNames, ...contents };
  checkDimensions(header);
  return header;
}

function limit(count: number, maximum: number, name: string): number {
  if (count <= maximum) return count;
  throw new InvalidFileError(`it has too many ${name}`);
}

/** Collects the metadata. */
class HeaderContents {
  readonly metadata: Map<string, string | number | boolean> = new Map();
  readonly lists: Map<string, readonly number[]> = new Map();
  readonly spacedTokens: Map<number, string> = new Map();
  vocabularySize = 0;
  /** The first byte without a token. */
  #missingByte: string | undefined;

  readEntry(source: ByteSource): void {
    const key = source.readText(1 << 16);
    if (cutAtZero(key) === "") throw new InvalidFileError("an entry of its metadata has no name");
    const type = source.readUint32();
    if (type === ARRAY_TYPE) this.#readList(key, source);
    else this.metadata.set(key, readValue(type, source));
  }

  #readList(key: string, source: ByteSource): void {
    const type = source.readUint32();
    const length = limit(source.readUint64(), MAX_LIST_LENGTH, "values in a list");
    if (type === STRING_TYPE) return this.#readTexts(key, length, source);
    const { size, read } = getNumberType(type);
    if (length > MAX_KEPT_LENGTH) return source.skip(length * size);
    const values = Array.from({ length }, () => source.readNumber(size, read));
    this.lists.set(key, values);
  }

  #readTexts(key: string, length: number, source: ByteSource): void {
    const isVocabulary = key === "tokenizer.ggml.tokens";
    const texts = new Set<string>();
    for (let index = 0; index < length; index++) {
      const text = source.readText(MAX_TEXT_BYTES);
      if (isVocabulary) this.#addToken(index, text, texts);
    }
    if (!isVocabulary) return;
    if (texts.size < length) throw new InvalidFileError("two tokens have the same text");
    this.vocabularySize = length;
    this.#missingByte = BYTE_TOKENS.find((entry, byte) =>
      !texts.has(entry) && (byte >= 128 || !texts.has(String.fromCharCode(byte)))
    );
  }

  /**
   * Refuses vocabularies for which llama.cpp ends the process: none at all, as files of other networks have, and one of
   * SentencePiece without the bytes of characters that are none of its tokens.
   */
  checkVocabulary(): void {
    const kind = this.metadata.get("tokenizer.ggml.model");
    if (kind === "none" || kind === "no_vocab") throw new InvalidFileError("it has no vocabulary");
    if (kind !== "llama" || this.#missingByte === undefined) return;
    throw new InvalidFileError(`its vocabulary has no token ${this.#missingByte}`);
  }

  #addToken(token: number, entry: string, entries: Set<string>): void {
    entries.add(cutAtZero(entry));
    const text = decodeSpacedToken(entry);
    if (text !== undefined) this.spacedTokens.set(token, text);
  }
}

/** Returns a text as llama.cpp sees it, which for some texts takes a zero byte as the end. */
function cutAtZero(text: string): string {
  const end = text.indexOf("\0");
  return end < 0 ? text : text.slice(0, end);
}

function readValue(type: number, source: ByteSource): string | number | boolean {
  if (type === STRING_TYPE) return source.readText(MAX_TEXT_BYTES);
  const { size, read } = getNumberType(type);
  const value = source.readNumber(size, read);
  return type === BOOLEAN_TYPE ? value !== 0 : value;
}

function getNumberType(type: number): NumberType {
  const found = NUMBER_TYPES[type];
  if (found) return found;
  throw new InvalidFileError(`its metadata has the unknown type ${type}`);
}

/** Refuses a part of a model: its size would be taken for that of the model. */
function checkParts(metadata: GgufHeader["metadata"]): void {
  const parts = Number(metadata.get("split.count") ?? 1);
  if (parts <= 1) return;
  throw new InvalidFileError(
    `it is one of ${parts} parts of a model; join them with llama-gguf-split --merge`,
  );
}

interface TensorLimits extends Pick<GgufHeader, "fileSize" | "metadata"> {
  readonly tensors: number;
}

/** Checks that the data of each tensor is in the file, and returns the names. */
function readTensors(
  source: ByteSource,
  { tensors, fileSize, metadata }: TensorLimits,
): Set<string> {
  const names = new Set<string>();
  let end = 0;
  for (let tensor = 0; tensor < tensors; tensor++) {
    names.add(source.readText(MAX_NAME_BYTES));
    const dimensions = limit(source.readUint32(), 4, "dimensions");
    let elements = 1;
    for (let index = 0; index < dimensions; index++) elements *= source.readUint64();
    const [perBlock, bytes] = TENSOR_TYPES[source.readUint32()] ?? [1, 0];
    const offset = source.readUint64();
    end = Math.max(end, offset + Math.ceil(elements / perBlock) * bytes);
  }
  const alignment = Number(metadata.get("general.alignment") ?? 32) || 32;
  const start = Math.ceil(source.position / alignment) * alignment;
  if (start + end > fileSize) throw new InvalidFileError("the file is incomplete");
  return names;
}
