/**
 * Names that the files of adapters import from the rest of the library.
 *
 * @module
 */

/** A name that a file imports. */
export interface ImportedName {
  /** Path of the importing file, relative to the root of the project. */
  readonly file: string;
  /** Path of the imported file, relative to the root of the project. */
  readonly from: string;
  /** The name, as exported. */
  readonly name: string;
}

/** Reads the named imports and re-exports of a file. */
export function readImportedNames(file: string, source: string): ImportedName[] {
  const statements = source.matchAll(
    /^(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s+"(\.[^"]+)"/gm,
  );
  return [...statements].flatMap(([, list = "", specifier = ""]) => {
    const from = new URL(specifier, `file:///${file}`).pathname.slice(1);
    return list.split(",").map((item) => item.trim().replace(/^type\s+/, "").replace(/\s.*/s, ""))
      .filter((name) => name !== "").map((name) => ({ file, from, name }));
  });
}
