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
  /** Files and directories in writable ones that may not be changed. Only a mount namespace can enforce that. */
  readonly readOnly: readonly string[];
  /** Files and directories in writable ones that appear empty. Only a mount namespace can enforce that. */
  readonly masked: readonly string[];
  /** Network access. */
  readonly network: ConfinedNetwork;
  /** Whether Unix sockets may be created. */
  readonly unixSockets: boolean;
  /**
   * Whether modes, owners, times and extended attributes stay as they are, also where the user may change them. Landlock
   * does not cover them. Default: `false`.
   */
  readonly keepsAttributes?: boolean;
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
  /** Creation of the mount namespace. */
  readonly mounts: MountSupport;
  /** Working directory of the program. */
  readonly cwd: string;
  /** Absolute path of the program, and its arguments. */
  readonly argv: readonly string[];
  /** Complete environment of the program. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * How a process gets a mount namespace: by itself, as the superuser; in a user namespace, which another program must
 * create, because a process with several threads cannot; or not at all.
 */
export type MountSupport = "direct" | "user_namespace" | "none";

/** Features of the kernel. */
export interface KernelSupport {
  /** Version of the Landlock ABI; 0 without Landlock. */
  readonly landlock: number;
  /** Whether seccomp filters work on this architecture. */
  readonly seccomp: boolean;
  /** Creation of mount namespaces. */
  readonly mounts: MountSupport;
}
