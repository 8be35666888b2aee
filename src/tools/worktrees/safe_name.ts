/**
 * Names that are safe as names of files and of branches.
 *
 * @module
 */

const MAX_LENGTH = 40;

/** Returns a name of lower-case letters, digits and single hyphens between them; `agent` if nothing is left. */
export function toSafeName(text: string): string {
  const words = text.slice(0, 10 * MAX_LENGTH).toLowerCase().split(/[^a-z0-9]+/);
  const name = words.filter((word) => word !== "").join("-").slice(0, MAX_LENGTH);
  return name.replace(/-$/, "") || "agent";
}
