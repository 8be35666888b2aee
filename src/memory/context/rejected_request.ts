/**
 * The request that a provider has rejected as too long.
 *
 * @module
 */

/** Tracks whether a provider can have seen a request with the current cut, by the signals of the runs. */
export class RejectedRequest {
  #cut: AbortSignal | undefined;
  #latest: AbortSignal | undefined;

  /** Records a cut of a run, or of `compact()`, whose request is not sent. */
  addCut(signal: AbortSignal = AbortSignal.abort()): void {
    this.#cut = signal;
  }

  /** Whether a request that was rejected before this one of a run can have had the current cut. */
  hasCut(signal: AbortSignal): boolean {
    // A run that was aborted leaves the overflow of an earlier request.
    const isEarlier = signal !== this.#latest && this.#cut?.aborted === true;
    this.#latest = signal;
    return !isEarlier;
  }
}
