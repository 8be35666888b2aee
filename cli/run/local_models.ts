/**
 * The provider `local`, whose code is loaded for its first request.
 *
 * @module
 */

import type { StreamFn } from "../../mod.ts";
import { lazyStreamFn } from "../../src/core/lazy_stream_fn.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";

/** Name of the provider whose models run in this process. */
export const LOCAL_PROVIDER = "local";

/** Adds the provider to those of `connect()`, unless a server has its name. */
export function withLocalProvider<Provider>(
  providers: Readonly<Record<string, Provider>>,
  host: Pick<Host, "env" | "fetch">,
): Readonly<Record<string, Provider | StreamFn>> {
  return { [LOCAL_PROVIDER]: createLateLocalProvider(host), ...providers };
}

function createLateLocalProvider(host: Pick<Host, "env" | "fetch">): StreamFn {
  let loaded: StreamFn | undefined;
  const streamFn = lazyStreamFn(async () => {
    const { createLocalProvider } = await importLate<typeof import("../models/local_provider.ts")>(
      "../models/local_provider.ts",
      import.meta.url,
    );
    return loaded = createLocalProvider(host);
  });
  return Object.assign(streamFn, {
    hasStrictSchema: () => true,
    contextWindow: (model: Parameters<NonNullable<StreamFn["contextWindow"]>>[0]) =>
      loaded?.contextWindow?.(model),
  });
}
