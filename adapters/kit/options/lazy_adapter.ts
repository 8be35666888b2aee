/**
 * Stream functions of adapters, which are loaded on the first request.
 *
 * @module
 */

import { lazyStreamFn } from "../../../src/core/lazy_stream_fn.ts";
import type { StreamFn } from "../../../src/core/stream.ts";
import { withCatalog } from "../request/with_catalog.ts";
import type { AdapterOptions } from "./adapter_options.ts";

/** Creates the stream function of an adapter. Options that are no object, as of callers without types, end the reply. */
export function lazyAdapter<Options extends AdapterOptions>(
  options: Options,
  load: () => Promise<(options: Options) => StreamFn>,
): StreamFn {
  const streamFn = lazyStreamFn(async () => {
    const [create, { checkAdapterOptions }] = await Promise.all([
      load(),
      import("./check_options.ts"),
    ]);
    checkAdapterOptions(options);
    return create(options);
  });
  const { catalog }: AdapterOptions = options ?? {};
  return withCatalog(streamFn, catalog);
}
