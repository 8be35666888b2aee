/**
 * Creates a git patch of the changes that a run makes in a directory.
 *
 * {@linkcode DirectorySnapshot.take} copies the files of a directory before the run, and
 * {@linkcode DirectorySnapshot.createPatch} compares them with the current files afterwards. The directory may be outside
 * of a repository or have uncommitted changes, and is not modified. `git apply` accepts the patch, binary files, file
 * modes and symbolic links included.
 *
 * @example
 * ```ts
 * import { DirectorySnapshot } from "@swink/agent/patch";
 *
 * const directory = await Deno.makeTempDir();
 * using snapshot = await DirectorySnapshot.take(directory);
 * await Deno.writeTextFile(`${directory}/notes.txt`, "Hello\n"); // or: await agent.prompt("…")
 *
 * const { bytes } = await snapshot.createPatch();
 * new TextDecoder().decode(bytes); // "diff --git a/notes.txt b/notes.txt\nnew file mode 100644\n…"
 * ```
 *
 * @module
 */

export {
  type DirectoryPatch,
  type DirectoryPatchOptions,
  DirectorySnapshot,
  type DirectorySnapshotOptions,
} from "./directory_snapshot.ts";
export type { GitPatchOptions } from "./git_patch.ts";
