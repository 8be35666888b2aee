/**
 * The memory that a model can take.
 *
 * @module
 */

import {
  findBuiltinModule,
  getNodeProcess,
  type NodeProcess,
} from "../../platform/builtin_modules.ts";
import type { LlamaInstance } from "./llama_runtime.ts";

/** The memory of this machine, as the runtime reports it. */
export interface MemorySystem extends Pick<NodeProcess, "availableMemory" | "constrainedMemory"> {
  /** Memory that is free or holds cached files, which the system gives up on demand. May throw. */
  freemem(): number;
}

const memorySystem: MemorySystem = {
  freemem: () => findBuiltinModule("node:os")?.freemem() ?? 0,
  availableMemory: () => getNodeProcess()?.availableMemory?.() ?? Infinity,
  constrainedMemory: () => getNodeProcess()?.constrainedMemory?.() ?? 0,
};

/** Returns the free memory of the processor and, if it has its own, of the graphics processor, in bytes. */
export async function readFreeMemory(
  llama: Pick<LlamaInstance, "gpu" | "getRamState" | "getVramState">,
  system: MemorySystem = memorySystem,
): Promise<number> {
  const { free } = await llama.getRamState();
  // llama.cpp leaves out the memory of cached files on Linux, so that a model that was just downloaded would not fit.
  const ram = limitMemory(Math.max(free, readCachedMemory(system)), system);
  if (llama.gpu === false) return ram;
  const vram = await llama.getVramState();
  return ram + Math.max(0, vram.free - vram.unifiedSize);
}

function readCachedMemory(system: MemorySystem): number {
  try {
    return system.freemem();
  } catch {
    // Deno needs a permission for it.
    return 0;
  }
}

/** Applies the limit of a container, which the memory of the machine does not show. */
function limitMemory(free: number, system: MemorySystem): number {
  const limit = system.constrainedMemory?.() ?? 0;
  return limit > 0 ? Math.min(free, limit, system.availableMemory?.() ?? limit) : free;
}
