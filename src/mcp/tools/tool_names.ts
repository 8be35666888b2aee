/**
 * The names of servers' tools for the model.
 *
 * @module
 */

/** The length that all providers accept. */
const MAX_LENGTH = 64;
const MAX_SERVER_LENGTH = 24;
const HASH_LENGTH = 8;

/**
 * Returns the name `mcp__SERVER__TOOL`, with the characters that providers accept.
 *
 * A name does not depend on the other tools, so that a change of a list does not change it. If characters are replaced or
 * cut off, a hash of the original names is appended.
 */
export function createToolName(server: string, tool: string): string {
  const prefix = `mcp__${createServerName(server)}__`;
  const maxLength = MAX_LENGTH - prefix.length;
  const accepted = replaceCharacters(tool);
  if (accepted === tool && tool.length <= maxLength) return prefix + tool;
  const stem = accepted.slice(0, maxLength - HASH_LENGTH - 1);
  return `${prefix}${stem}_${hashText(tool)}`;
}

/** The name of a server has no `__` and no `_` at its end, so that two servers never share a prefix. */
function createServerName(server: string): string {
  const accepted = replaceCharacters(server).replaceAll(/__+/g, "_").replace(/_$/, "");
  if (accepted === server && server.length <= MAX_SERVER_LENGTH) return server;
  return `${accepted.slice(0, MAX_SERVER_LENGTH - HASH_LENGTH - 1)}-${hashText(server)}`;
}

function replaceCharacters(text: string): string {
  return text.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
}

/** Returns the 32-bit FNV-1a hash of a text as 8 hexadecimal digits. */
function hashText(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(HASH_LENGTH, "0");
}
