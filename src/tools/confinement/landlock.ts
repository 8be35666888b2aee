/**
 * Structures of Landlock, with which a process drops all rights that no rule grants, for itself and its children.
 * Documented in the kernel's `userspace-api/landlock.rst`; each version of the ABI adds rights.
 *
 * @module
 */

import type { ConfinedNetwork } from "./confinement_policy.ts";

/** Access rights to files, one bit each. */
const RIGHTS = {
  execute: 1 << 0,
  writeFile: 1 << 1,
  readFile: 1 << 2,
  readDirectory: 1 << 3,
  removeDirectory: 1 << 4,
  removeFile: 1 << 5,
  makeCharacterDevice: 1 << 6,
  makeDirectory: 1 << 7,
  makeFile: 1 << 8,
  makeSocket: 1 << 9,
  makePipe: 1 << 10,
  makeBlockDevice: 1 << 11,
  makeLink: 1 << 12,
  /** Since version 2: move and link between directories. */
  refer: 1 << 13,
  /** Since version 3. */
  truncate: 1 << 14,
  /** Since version 5. */
  controlDevice: 1 << 15,
} as const;

/** The rights of version 1: the first 13 bits. */
const VERSION_1_RIGHTS = (1 << 13) - 1;

/** Rights that the kernel accepts for a file. */
const FILE_RIGHTS = RIGHTS.execute | RIGHTS.writeFile | RIGHTS.readFile | RIGHTS.truncate |
  RIGHTS.controlDevice;

const READ_RIGHTS = RIGHTS.execute | RIGHTS.readFile | RIGHTS.readDirectory;

const BIND_TCP = 1n;
const CONNECT_TCP = 2n;

/** Restricts abstract Unix sockets and signals to processes of the sandbox. */
const SCOPES = 3n;

/** Returns all access rights of a version of the ABI. */
export function getHandledRights(version: number): number {
  return VERSION_1_RIGHTS |
    (version >= 2 ? RIGHTS.refer : 0) |
    (version >= 3 ? RIGHTS.truncate : 0) |
    (version >= 5 ? RIGHTS.controlDevice : 0);
}

/** Returns the rights for a readable path. */
export function getReadRights(isDirectory: boolean): number {
  return isDirectory ? READ_RIGHTS : READ_RIGHTS & FILE_RIGHTS;
}

/** Returns the rights for a writable path; devices can never be created. */
export function getWriteRights(isDirectory: boolean, version: number): number {
  const all = getHandledRights(version) & ~(RIGHTS.makeBlockDevice | RIGHTS.makeCharacterDevice);
  return isDirectory ? all : all & FILE_RIGHTS;
}

/** The right to list names, which is granted on all directories. */
export const LISTING_RIGHT: number = RIGHTS.readDirectory;

/** Encodes `struct landlock_ruleset_attr` in the length of a version of the ABI. */
export function encodeRulesetAttributes(
  version: number,
  network: ConfinedNetwork,
): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(version >= 6 ? 24 : version >= 4 ? 16 : 8));
  view.setBigUint64(0, BigInt(getHandledRights(version)), true);
  const handledNetwork = network.type === "on" ? 0n : BIND_TCP | CONNECT_TCP;
  if (version >= 4) view.setBigUint64(8, handledNetwork, true);
  if (version >= 6) view.setBigUint64(16, SCOPES, true);
  return new Uint8Array(view.buffer);
}

/** Encodes `struct landlock_path_beneath_attr`. */
export function encodePathRule(rights: number, descriptor: number): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(12));
  view.setBigUint64(0, BigInt(rights), true);
  view.setInt32(8, descriptor, true);
  return new Uint8Array(view.buffer);
}

/** Encodes `struct landlock_net_port_attr` with the right to connect to a port. */
export function encodePortRule(port: number): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(16));
  view.setBigUint64(0, CONNECT_TCP, true);
  view.setBigUint64(8, BigInt(port), true);
  return new Uint8Array(view.buffer);
}
