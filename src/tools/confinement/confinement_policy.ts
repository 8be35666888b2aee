/**
 * What the kernel shall enforce on a command, as plain values that go to the helper process.
 *
 * @module
 */

/** What a command may do. */
export interface ConfinementPolicy {
  /** Files and folders that may be changed. */
  readonly writable: readonly string[];
  /** Files and folders that may be read and run. */
  readonly readable: readonly string[];
  /** What of the network is open. */
  readonly network: ConfinedNetwork;
  /** Whether Unix sockets may be made. */
  readonly unixSockets: boolean;
}

/** What of the network is open: nothing, everything over IP, or TCP to one port of a proxy. */
export type ConfinedNetwork =
  | { readonly type: "off" }
  | { readonly type: "on" }
  | { readonly type: "proxy"; readonly port: number };

/** What the helper process reads from its standard input. */
export interface ConfinedLaunch {
  /** What to enforce. */
  readonly policy: ConfinementPolicy;
  /** The program, by its absolute path, and its arguments. */
  readonly argv: readonly string[];
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** What the kernel of this machine can enforce. */
export interface KernelSupport {
  /** Version of Landlock's interface; 0 where there is none. */
  readonly landlock: number;
  /** Whether filters of system calls work on this machine. */
  readonly seccomp: boolean;
}
