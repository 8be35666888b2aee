/**
 * What a run changed in a directory, as a patch that `git apply` takes.
 *
 * @module
 */

export { DirectorySnapshot } from "./directory_snapshot.ts";
export { makePatch } from "./make_patch.ts";
export type { GitMode, PathChange, PathState } from "./path_change.ts";
