/**
 * The content of a lock file.
 *
 * The first line is the record of the owner. Node cannot lock files: there, the owner writes its claim into the second
 * line, which is valid while its process runs.
 *
 * @module
 */

import { isJsonObject } from "../../core/json/json.ts";
import { getProcessStart, isProcessRunning } from "../../platform/node_processes.ts";
import { decodeLockOwner, isKnownOwner } from "./lock_owner.ts";

/** The process that claims a lock file. */
export interface LockClaim {
  /** Process id. */
  readonly pid: number;
  /** Start of the process, in milliseconds since the epoch. In containers, the next process often has the same id. */
  readonly started: number;
}

/** The lines of a lock file. */
export interface LockFileContent {
  /** The record of the owner; empty before the file is locked. */
  readonly record: string;
  /** The claim of the owner; none if it has locked the file itself. */
  readonly claim?: LockClaim | undefined;
}

/** Maximum difference between two calculations of the start of a process, in milliseconds. */
const START_TOLERANCE_MS = 2_000;

/** Encodes the content of a lock file. The claim ends with its line: longer content may follow until the file is cut. */
export function encodeLockFile({ record, claim }: LockFileContent): string {
  return claim ? `${record}\n${JSON.stringify(claim)}\n` : record;
}

/** Decodes the content of a lock file. */
export function decodeLockFile(text: string): LockFileContent {
  const [record = "", claim = ""] = text.split("\n");
  return { record, claim: parseClaim(claim) };
}

/** Whether the process of a claim runs or, without a claim, the process of the record. */
export function isClaimed({ record, claim }: LockFileContent, own: LockClaim): boolean {
  if (claim?.pid === own.pid) return Math.abs(claim.started - own.started) < START_TOLERANCE_MS;
  if (claim) return isProcessRunning(claim.pid);
  const owner = decodeLockOwner(record, 0);
  return isKnownOwner(owner) && owner.pid !== own.pid && isProcessRunning(owner.pid);
}

/** Creates the claim of this process. */
export function createClaim(pid: number): LockClaim {
  return { pid, started: getProcessStart() };
}

function parseClaim(text: string): LockClaim | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isJsonObject(value)) return undefined;
    const { pid, started } = value;
    return typeof pid === "number" && typeof started === "number" ? { pid, started } : undefined;
  } catch {
    return undefined;
  }
}
