/**
 * Finds the files with secrets in the directories of a sandbox, so that the kernel can hide them from commands.
 *
 * @module
 */

import { AbortedError } from "../../core/errors/errors.ts";
import type { NamedEntry } from "../../platform/file_calls.ts";
import { basename, dirname, isExactPath, SEPARATOR } from "../../platform/paths.ts";
import {
  compileSecretGlobs,
  PROTECTED_FILES,
  SECRET_PLACES,
} from "../../platform/secret_places.ts";
import { system } from "../../platform/system.ts";
import { isWithin } from "../files/file_rules.ts";
import { getSharedIdentity } from "../files/shared_identity.ts";

/** Files with secrets in directories, and directories that may contain more of them. All paths are canonical. */
export interface SecretFiles {
  /** Files and directories with secrets. */
  readonly secrets: readonly string[];
  /** Directories that were not searched because of a limit; they may contain more. */
  readonly unsearched: readonly string[];
  /** Directories that this program could not read. */
  readonly unreadable: readonly string[];
}

/** Options for {@linkcode findSecretFiles}. */
export interface FindSecretFilesOptions {
  /** Whether a file has secrets, in addition to {@linkcode PROTECTED_FILES}. Default: none has. */
  readonly isProtected?: ((path: string) => boolean) | undefined;
  /** Canonical paths that are not searched, such as those that are hidden anyway. Default: none. */
  readonly skipped?: readonly string[] | undefined;
  /** Aborts the search with an {@linkcode AbortedError}. */
  readonly signal?: AbortSignal | undefined;
  /** Maximum number of entries to examine. Default: 1,000,000. */
  readonly maxEntries?: number | undefined;
  /** Maximum number of secrets to find. Default: 2,000. */
  readonly maxSecrets?: number | undefined;
  /** Maximum time in milliseconds. Default: 5,000. */
  readonly maxMs?: number | undefined;
}

const MAX_ENTRIES = 1_000_000;
const MAX_SECRETS = 2_000;
const MAX_MS = 5_000;

/** Time after which other work of this program gets its turn. */
const SLICE_MS = 10;

/** Maximum number of reported directories; of more, directories above them are reported. */
const MAX_UNSEARCHED = 500;

/** Directories of the kernel, which commands read under rules of their own. */
const KERNEL_DIRECTORIES: ReadonlySet<string> = new Set(["/proc", "/sys", "/dev"]);

/** Directories of programs. A link to a file in them hides nothing, since commands need it. */
const SYSTEM_DIRECTORIES = /^\/(?:bin|lib\w*|nix|opt|sbin|usr)(?:\/|$)/;

/** Directories with what programs need; files in them, other than those in the directories of programs, may be hidden. */
const SHARED_DIRECTORIES =
  /^(?:\/private)?\/(?:etc(?:\/.*)?|home|media|mnt|private|proc|root|run|srv|sys|tmp|var|Users|Volumes)$|^\/(?:Library|System|Applications)(?:\/.*)?$/s;

/** Directories in a repository whose names are those of objects and branches. */
const GIT_DATA: ReadonlySet<string> = new Set(["objects", "refs", "logs"]);

/** Matches directories of installed packages, whose files package managers share by thousands of links. */
const PACKAGES = /\/(?:node_modules|site-packages)(?:\/|$)/;

/** Matches `.git`, and the directories in it in which git-lfs and git-annex keep thousands of objects. */
const GIT = /\/\.git(?:\/(?:modules\/.*\/)?(?:lfs|annex))?$/s;

/** Matches directories in `.git`, among which are the repositories of submodules, and may be working trees. */
const IN_GIT = /\/\.git\//;

const isSecretName = compileSecretGlobs(SECRET_PLACES.names);
const isHomePlace = compileSecretGlobs(SECRET_PLACES.home.map((path) => `**/${path}`));
const isProtectedPath = compileSecretGlobs(PROTECTED_FILES);
const HOME_NAMES: ReadonlySet<string> = new Set(
  SECRET_PLACES.home.map((path) => basename(path).toLowerCase()),
);

/**
 * Finds the files with secrets in directories, also in ignored ones and in nested repositories. Links are not followed; the
 * files with secrets to which they lead, and hard links to those found, are found too. Directories near the start are
 * searched first, so that a limit leaves out deep ones.
 *
 * @param roots Canonical paths of directories.
 * @throws {AbortedError} When the signal is aborted.
 */
export async function findSecretFiles(
  roots: readonly string[],
  options: FindSecretFilesOptions = {},
): Promise<SecretFiles> {
  const search = new SecretFileSearch(roots, options);
  await search.run();
  const { secrets, unreadable } = search;
  return {
    secrets: [...secrets],
    unsearched: joinUnsearched(search.unsearched, roots),
    unreadable: [...unreadable],
  };
}

class SecretFileSearch {
  readonly secrets = new Set<string>();
  readonly unreadable = new Set<string>();
  readonly unsearched: string[] = [];
  readonly #roots: ReadonlySet<string>;
  readonly #options: FindSecretFilesOptions;
  readonly #skipped: ReadonlySet<string>;
  readonly #directories: string[];
  readonly #links: string[] = [];
  readonly #deadline: number;
  #sliceEnd = performance.now() + SLICE_MS;
  #entries = 0;

  constructor(roots: readonly string[], options: FindSecretFilesOptions) {
    this.#roots = new Set(roots);
    this.#options = options;
    this.#skipped = new Set(options.skipped);
    this.#directories = [...this.#roots];
    this.#deadline = performance.now() + (options.maxMs ?? MAX_MS);
  }

  async run(): Promise<void> {
    await this.#searchUntil((directory) => this.#searchDirectory(directory), {
      isDone: () => this.#isExhausted(),
    });
    // Every link is followed: a file behind one that is left out would be readable.
    for (const link of this.#links) {
      await this.#yield();
      this.#followLink(link);
    }
    const identities = this.#listSharedIdentities();
    if (identities.size === 0) return;
    await this.#searchUntil((directory) => this.#findHardLinks(directory, identities), {
      isDone: () => performance.now() >= this.#deadline,
    });
  }

  /** Searches the directories, and those that are added meanwhile; those that are left become unsearched. */
  async #searchUntil(
    search: (directory: string) => void,
    { isDone }: { readonly isDone: () => boolean },
  ): Promise<void> {
    for (const [index, directory] of this.#directories.entries()) {
      await this.#yield();
      if (isDone()) {
        this.unsearched.push(...this.#directories.splice(index));
        return;
      }
      search(directory);
    }
  }

  /** Returns to the event loop when the slice of time is over. */
  async #yield(): Promise<void> {
    if (this.#options.signal?.aborted) throw new AbortedError("The command was cancelled");
    if (performance.now() < this.#sliceEnd) return;
    await new Promise((resolve) => setTimeout(resolve, 0));
    this.#sliceEnd = performance.now() + SLICE_MS;
  }

  #isExhausted(): boolean {
    const { maxEntries = MAX_ENTRIES, maxSecrets = MAX_SECRETS } = this.#options;
    return this.#entries >= maxEntries || this.secrets.size >= maxSecrets ||
      performance.now() >= this.#deadline;
  }

  #searchDirectory(directory: string): void {
    const hasLinks = !PACKAGES.test(directory) || this.#roots.has(directory);
    const prefix = toPrefix(directory);
    const entries = this.#listEntries(directory);
    const isRepository = isGitDirectory(directory, entries);
    for (const { name, isDirectory, isSymlink } of entries) {
      this.#entries++;
      if (isDirectory && isRepository && GIT_DATA.has(name)) continue;
      const path = prefix + name;
      if (isDirectory && (this.#skipped.has(path) || KERNEL_DIRECTORIES.has(path))) continue;
      if (isSecretPlace(path, name) || (!isDirectory && this.#isSecretFile(path, name))) {
        this.secrets.add(path);
      } else if (isDirectory && isExactPath(name)) {
        this.#directories.push(path);
      } else if (isDirectory) {
        // Its name is not UTF-8: this path may be that of another directory.
        this.unreadable.add(path);
      }
      if (isSymlink && hasLinks) this.#links.push(path);
    }
  }

  #isSecretFile(path: string, name: string): boolean {
    return isSecretName(name) || this.#options.isProtected?.(path) === true;
  }

  #listEntries(directory: string): readonly NamedEntry[] {
    try {
      return [...system.readDirSync(directory)];
    } catch {
      this.unreadable.add(directory);
      return [];
    }
  }

  /** Finds what is behind a link if it, or the link, has the name of a secret. */
  #followLink(link: string): void {
    try {
      const target = system.realPathSync(link);
      if (this.#isKnown(target)) return;
      const isSecret = isProtectedPath(target.slice(1)) ||
        (this.secrets.has(link) && this.#isHideable(target, link));
      if (isSecret) this.secrets.add(target);
    } catch {
      // Leads nowhere.
    }
  }

  /** Whether commands can do without what is behind a link, which any repository may contain. */
  #isHideable(target: string, link: string): boolean {
    if (SYSTEM_DIRECTORIES.test(target)) return false;
    if (system.statSync(target).isFile) return true;
    return !SHARED_DIRECTORIES.test(target) && isSecretPlace(link, basename(link)) &&
      ![...this.#roots].some((root) => isWithin(root, target));
  }

  /** Whether a path is found, or in a directory that is. */
  #isKnown(path: string): boolean {
    for (let parent = path; parent !== dirname(parent); parent = dirname(parent)) {
      if (this.secrets.has(parent) || this.#skipped.has(parent)) return true;
    }
    return false;
  }

  /** Lists the identities of files with secrets that have other names, those of installed packages excepted. */
  #listSharedIdentities(): ReadonlySet<string> {
    const own = [...this.secrets].filter((path) => !PACKAGES.test(path));
    return new Set(own.flatMap((path) => getSharedIdentity(path) ?? []));
  }

  #findHardLinks(directory: string, identities: ReadonlySet<string>): void {
    if (PACKAGES.test(directory) && !this.#roots.has(directory)) return;
    const prefix = toPrefix(directory);
    for (const { name, isFile } of this.#listEntries(directory)) {
      if (!isFile) continue;
      const path = prefix + name;
      const identity = getSharedIdentity(path);
      const isShared = identity !== undefined && identities.has(identity);
      if (isShared || !isExactPath(name)) this.secrets.add(path);
    }
  }
}

/** Whether a directory is `.git`, or that of a submodule or of another working tree in it. */
function isGitDirectory(directory: string, entries: readonly NamedEntry[]): boolean {
  return GIT.test(directory) ||
    IN_GIT.test(directory) && entries.some(({ name }) => name === "HEAD");
}

/** Returns what precedes the names of a directory; faster than `join()`. */
function toPrefix(directory: string): string {
  return directory.endsWith(SEPARATOR) ? directory : directory + SEPARATOR;
}

/** Whether a path is one of those with secrets in a home directory, which may be copied anywhere. */
function isSecretPlace(path: string, name: string): boolean {
  return HOME_NAMES.has(name.toLowerCase()) && isHomePlace(path.slice(1));
}

/** Replaces many directories by those above them, all at the same depth below their roots, until they are few. */
function joinUnsearched(directories: readonly string[], roots: readonly string[]): string[] {
  const paths = directories.map((path) => splitBelow(path, roots));
  let joined: readonly string[] = roots;
  for (let depth = 0;; depth++) {
    const next = new Set<string>();
    for (const { root, names } of paths) {
      next.add([root, ...names.slice(0, depth)].join(SEPARATOR) || SEPARATOR);
      if (next.size > MAX_UNSEARCHED) return [...joined];
    }
    joined = [...next];
    if (paths.every(({ names }) => names.length <= depth)) return [...joined];
  }
}

interface PathBelow {
  /** The root, without a separator at its end. */
  readonly root: string;
  readonly names: readonly string[];
}

function splitBelow(path: string, roots: readonly string[]): PathBelow {
  const root = roots.find((candidate) => isWithin(path, candidate)) ?? path;
  return {
    root: root.endsWith(SEPARATOR) ? root.slice(0, -1) : root,
    names: path.slice(root.length).split(SEPARATOR).filter((name) => name !== ""),
  };
}
