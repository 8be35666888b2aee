/**
 * A disk on which nothing can be written.
 *
 * @module
 */

/**
 * Lets the functions that truncate or write a file without waiting fail as on a full disk, on any runtime, until it is
 * disposed.
 *
 * @param path A file that can be created, by which the class of this runtime's files is found.
 */
export function fillDisk(path: string): Disposable {
  using file = Deno.openSync(path, { write: true, create: true });
  const files: Deno.FsFile = Object.getPrototypeOf(file);
  const { truncateSync, writeSync } = files;
  const fail = (): never => {
    throw new Error("disk full");
  };
  Object.assign(files, { truncateSync: fail, writeSync: fail });
  return { [Symbol.dispose]: () => void Object.assign(files, { truncateSync, writeSync }) };
}
