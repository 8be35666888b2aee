/**
 * Reads a set of approval rules from a file.
 *
 * @module
 */

import { BadRequestError } from "../../../core/errors/errors.ts";
import { dirname } from "../../../platform/paths.ts";
import { readUntrustedFile } from "../../../platform/untrusted_file.ts";
import { parseRuleSet, type RuleSet } from "./rule_set.ts";

const MAX_BYTES = 1024 * 1024;

/**
 * Reads a JSON file with the lists `allow`, `ask` and `deny`; returns `undefined` if there is none. The rules of a
 * `project` cannot allow anything, since others may have written the work tree.
 *
 * Rejects with a `BadRequestError` if the file is invalid, no regular file, larger than 1 MiB, a link out of its directory,
 * or no UTF-8: its rules may deny calls, so that a program should not continue without them.
 *
 * @example
 * ```ts ignore
 * import { approvalGate, readRuleSet } from "@swink/agent/tools";
 *
 * const sets = [
 *   await readRuleSet("/home/ada/.config/my_agent/rules.json", { authority: "user" }),
 *   await readRuleSet("rules.json", { authority: "project" }),
 * ];
 * const gate = approvalGate({ rules: sets.filter((set) => set !== undefined) });
 * ```
 */
export async function readRuleSet(
  path: string,
  { authority }: { readonly authority: "user" | "project" },
): Promise<RuleSet | undefined> {
  if (authority !== "user" && authority !== "project") {
    throw new BadRequestError('Pass { authority: "user" } or { authority: "project" }');
  }
  const read = await readUntrustedFile(path, { within: dirname(path), maxBytes: MAX_BYTES });
  switch (read.type) {
    case "missing":
      return undefined;
    case "refused":
      throw new BadRequestError(`${path} ${read.reason}`);
    case "content":
      return parseRuleSet(decode(path, read.bytes), { source: path, authority });
  }
}

function decode(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new BadRequestError(`${path} is not UTF-8 text`);
  }
}
