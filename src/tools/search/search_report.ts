/**
 * The parts of a search that its hits do not cover, so that a result never looks more complete than it is.
 *
 * @module
 */

/** Reason why the hits of a file are missing. */
export type Omission = "binary" | "large" | "unreadable" | "slow" | "changed" | "name";

const DESCRIPTIONS: Readonly<Record<Omission, string>> = {
  binary: "binary, matches not shown",
  large: "too large, not searched or not shown",
  unreadable: "not readable",
  slow: "not searched, because the pattern takes too long",
  changed: "changed during the search",
  name: "not searched or not shown",
};

/** Maximum number of names in the description of one reason. */
const MAX_NAMES = 5;

/** Collects what a search left out. */
export class SearchReport {
  readonly #omitted = new Map<Omission, string[]>();
  #isTimedOut = false;
  #hasUnnamed = false;

  /** Records a file or directory that was left out. */
  omit(omission: Omission, path: string): void {
    const paths = this.#omitted.get(omission);
    if (paths) paths.push(path);
    else this.#omitted.set(omission, [path]);
  }

  /** Records that files could not be read, whose names are not known. */
  omitUnnamed(): void {
    this.#hasUnnamed = true;
  }

  /** Records that the time was used up before all files were searched. */
  timeOut(): void {
    this.#isTimedOut = true;
  }

  /** Returns one line in brackets for each reason; empty when nothing was left out. */
  describe(format: (path: string) => string): string[] {
    const notices = [...this.#omitted].map(([omission, paths]) => {
      const names = paths.slice(0, MAX_NAMES).map(format).join(", ");
      const others = paths.length > MAX_NAMES ? ` and ${paths.length - MAX_NAMES} more` : "";
      return `[${DESCRIPTIONS[omission]}: ${names}${others}]`;
    });
    if (this.#hasUnnamed) notices.push("[some files or directories are not readable]");
    if (this.#isTimedOut) {
      notices.push("[stopped because of the time limit: not all files were searched]");
    }
    return notices;
  }
}
