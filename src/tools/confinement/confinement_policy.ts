/**
 * The policy that the kernel enforces on a command, as JSON values for the helper process.
 *
 * @module
 */

/** The rights of a command. */
export interface ConfinementPolicy {
  /** Files and directories that may be changed. */
  readonly writable: readonly string[];
  /** Files and directories that may be read and executed. */
  readonly readable: readonly string[];
  /** Network access. */
  readonly network: ConfinedNetwork;
  /** Whether Unix sockets may be created. */
  readonly unixSockets: boolean;
}

/** Network access: none, all of IP, or TCP to the port of a proxy. */
export type ConfinedNetwork =
  | { readonly type: "off" }
  | { readonly type: "on" }
  | { readonly type: "proxy"; readonly port: number };

/** The standard input of the helper process. */
export interface ConfinedLaunch {
  /** The policy to enforce. */
  readonly policy: ConfinementPolicy;
  /** Absolute path of the program, and its arguments. */
  readonly argv: readonly string[];
  /** Complete environment of the program. */
  readonly env: Readonly<Record<string, string>>;
}

/** Features of the kernel. */
export interface KernelSupport {
  /** Version of the Landlock ABI; 0 without Landlock. */
  readonly landlock: number;
  /** Whether seccomp filters work on this architecture. */
  readonly seccomp: boolean;
}
