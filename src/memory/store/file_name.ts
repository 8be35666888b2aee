/**
 * Names of files for session ids.
 *
 * An id that is a safe file name on every platform is its own name. In others, unsafe characters are percent-encoded,
 * as in URLs. Upper-case letters are unsafe: macOS and Windows would open the file of "ada" for the id "Ada". The name
 * of an id that would be too long ends with a hash of the id.
 *
 * @module
 */

/** Maximum length of a name. File systems allow 255 bytes; extensions and process ids need some of them. */
const MAX_NAME_LENGTH = 200;
/** Length of the part of a long name before its hash. */
const PREFIX_LENGTH = 160;
/** Precedes a hash. An encoded name never has two percent signs in a row. */
const HASH_MARK = "%%";

/** Unsafe characters: any but these, one of these at the beginning, and dots before another or at the end. */
const UNSAFE_CHARACTER = /[^a-z0-9._-]|^[._-]|\.(?=\.|$)/gu;
/** The beginning of a name that Windows reserves for a device, with any extension. */
const DEVICE_NAME = /^(?=(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))./i;

/** Returns the name of the files of a session, without an extension. */
export function encodeFileName(id: string): string {
  const name = id.replaceAll(UNSAFE_CHARACTER, encodeCharacter).replace(
    DEVICE_NAME,
    encodeCharacter,
  );
  if (name.length <= MAX_NAME_LENGTH) return name;
  return `${name.slice(0, PREFIX_LENGTH)}${HASH_MARK}${hashText(id)}`;
}

/** Returns the id of the session whose files have a name; `undefined` if the name does not have it. */
export function decodeFileName(name: string): string | undefined {
  try {
    const id = decodeURIComponent(name);
    return encodeFileName(id) === name ? id : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a name has the hash of its session's id instead of the id. */
export function isHashedName(name: string): boolean {
  return name.includes(HASH_MARK);
}

function encodeCharacter(character: string): string {
  const bytes = new TextEncoder().encode(character);
  return Array.from(bytes, (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(
    "",
  );
}

/** Hashes a text with 64-bit FNV-1a. Names with the same hash are distinguished by the header of the log. */
function hashText(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, "0");
}
