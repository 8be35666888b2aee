/**
 * Suspension of the program by Ctrl+Z or a signal, and its continuation by the shell.
 *
 * @module
 */

import type { Terminal } from "./terminal.ts";

/** Options for {@linkcode listenForSuspension}. */
export interface SuspensionOptions {
  /** The terminal. */
  readonly terminal: Pick<Terminal, "onSuspend" | "onRedraw" | "stop">;
  /** Leaves the terminal to the shell: erases the live region and suspends the keyboard. */
  readonly suspend: () => Promise<void>;
  /** Takes the terminal back: resumes the keyboard and draws the live region. Also after a stop without `suspend()`. */
  readonly resume: () => Promise<void>;
}

/**
 * Suspends the program for each signal SIGTSTP, which the key Ctrl+Z sends by `terminal.requestSuspension()`, until the
 * result is disposed of. Also resumes it after a stop that cannot be prepared (SIGSTOP).
 */
export function listenForSuspension(
  { terminal, suspend, resume }: SuspensionOptions,
): Disposable {
  let isSuspending = false;
  /** Whether the next signal SIGCONT follows a stop that has been handled. */
  let isContinuing = false;
  const stopForShell = async () => {
    if (isSuspending) return;
    isSuspending = true;
    try {
      await suspend();
      // The signal can arrive before the process continues here.
      isContinuing = true;
      isContinuing = await terminal.stop() && isContinuing;
      await resume();
    } finally {
      isSuspending = false;
    }
  };
  const removeListeners = [
    terminal.onSuspend(() => void stopForShell()),
    terminal.onRedraw((cause) => {
      if (cause !== "continued") return;
      if (!isContinuing && !isSuspending) void resume();
      isContinuing = false;
    }),
  ];
  return { [Symbol.dispose]: () => removeListeners.forEach((remove) => remove()) };
}
