/**
 * The values in a word of a command.
 *
 * @module
 */

/** The address of a resource of another machine. */
const ADDRESS = /\b(?!file:)[a-z][\w+.-]{0,30}:\/\/\S*/gi;

/** The beginning of a path of git that is relative to its work tree, or compared otherwise. */
const GIT_MAGIC = /^:(?:\/|\([a-z,]*\))/;

/** Returns a word and the values in it: of an option, an assignment, a revision, and for a reader a reference to a file. */
export function listValues(word: string, isReader: boolean): readonly string[] {
  const text = word.replace(ADDRESS, "").replace(GIT_MAGIC, "");
  const [, attached = ""] = /^-\w(.+)/s.exec(text) ?? [];
  // The arguments of many programs, and the values in them, may be in a file behind `@`, which is also the beginning of the
  // name of a package.
  const [, file = ""] = /(?:^@(?=[./~])|^[^@]+=@)(.+)/s.exec(text) ?? [];
  // As in `field=<file` of `curl` and `type=bind,src=directory` of `docker`.
  const parts = [text, attached, file, ...text.split(isReader ? /[=:@]<?/ : /[=:]/)];
  if (text.includes("=")) parts.push(...text.split(/[=,]/));
  return [...new Set(parts)].filter((part) => part !== "");
}
