/**
 * The provider `local`: models on this device, in this process.
 *
 * @module
 */

import type { StreamFn } from "../../mod.ts";
import { BadRequestError, ModelNotFoundError } from "../../src/core/errors/errors.ts";
import { lazyStreamFn } from "../../src/core/streams/lazy_stream_fn.ts";
import { createLocal, formatBytes, type LlamaGpu, type LocalOptions } from "../../src/local/mod.ts";
import { pathExists } from "../../src/platform/path_exists.ts";
import type { Host } from "../host/host.ts";
import { openModelStore } from "./local_store.ts";

const GPUS: Readonly<Record<string, LlamaGpu>> = {
  auto: "auto",
  cuda: "cuda",
  vulkan: "vulkan",
  metal: "metal",
  off: false,
};

/**
 * Creates the stream function of the provider, with the settings of the environment.
 *
 * @throws {BadRequestError} If a variable of the environment is invalid.
 */
export function createLocalProvider(host: Pick<Host, "env" | "fetch">): StreamFn {
  const local = createLocal(readOptions(host));
  const call: StreamFn = (request) => {
    const checked = lazyStreamFn(async () => {
      await checkLocalModel(request.model.modelId, host);
      return local;
    });
    return checked(request);
  };
  return Object.assign(call, { contextWindow: local.contextWindow });
}

/**
 * Checks that a model is on this device, and not for embeddings. The program downloads gigabytes only when it is asked to.
 *
 * @throws {BadRequestError} If it is for embeddings.
 * @throws {ModelNotFoundError} If it is not on this device; the message has the command that downloads it.
 */
async function checkLocalModel(
  name: string,
  host: Pick<Host, "env" | "fetch">,
): Promise<void> {
  const place = await openModelStore(host).find(name);
  if (place.preset?.purpose === "embedding") {
    throw new BadRequestError(
      `The model ${name} only creates embeddings: use it with createEmbedder()`,
    );
  }
  if (pathExists(place.path)) return;
  const size = place.source?.size;
  const advice = place.source
    ? `; download it${size ? ` (${formatBytes(size)})` : ""} with: swink models local pull ${name}`
    : "";
  throw new ModelNotFoundError(`The model ${name} is not on this device${advice}`, {
    provider: "local",
    model: name,
  });
}

function readOptions({ env, fetch }: Pick<Host, "env" | "fetch">): LocalOptions {
  const gpu = env("SWINK_LOCAL_GPU") || "auto";
  if (!Object.hasOwn(GPUS, gpu)) {
    const message = `SWINK_LOCAL_GPU is "${gpu}"; use one of: ${Object.keys(GPUS).join(", ")}`;
    throw new BadRequestError(message);
  }
  return {
    env,
    fetch,
    gpu: GPUS[gpu] ?? "auto",
    contextSize: readCount("SWINK_LOCAL_CONTEXT", env),
    threads: readCount("SWINK_LOCAL_THREADS", env),
  };
}

function readCount(name: string, env: Host["env"]): number | undefined {
  const text = env(name);
  if (!text) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new BadRequestError(`${name} is "${text}"; use a positive integer`);
}
