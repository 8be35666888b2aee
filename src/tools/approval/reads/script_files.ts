/**
 * The files that scripts of `sed` and awk read.
 *
 * @module
 */

/** Maximum length of a script of `sed` that is searched, which takes time of its square. */
const MAX_SED_SCRIPT = 4_096;

/** The command of `sed` that reads a file, whose name is the rest of the line. */
const SED_FILES =
  /(?:(?<=^|^-\w*e|^--exp[a-z]*=|[\s;{}!$\d])[rR]\s*|(?<=\/[IM]*)[rR](?:\s+|(?=[.~/])))(?=(\S[^\n]*))/gm;

/** The texts in a script of awk that are files, or commands. */
const AWK_FILES =
  /(?:<|\bARGV\[[^\]]*\]\s*=)\s*"([^"]*)"|\bsystem\s*\(\s*"([^"]*)"|"([^"]*)"\s*\|/g;

/** Returns the files that a script of `sed` or awk reads. */
export function listScriptFiles(name: string, script: string): readonly string[] {
  if (name === "sed") {
    // As a path it is too long as well.
    if (script.length > MAX_SED_SCRIPT) return [script];
    return [...script.matchAll(SED_FILES)].map(([, file = ""]) => file.replace(/[\s}]+$/, ""));
  }
  if (!/^[gmn]?awk$/.test(name)) return [];
  return [...script.matchAll(AWK_FILES)].flatMap(([, ...texts]) =>
    texts.flatMap((text = "") => text.split(/\s+/)).filter((text) => text !== "")
  );
}
