/**
 * A registry on loopback with the built package, in the layout of JSR.
 *
 * @module
 */

import { packageDirectory } from "../../scripts/jsr/build.ts";

/** A running registry. */
export interface PackageRegistry extends AsyncDisposable {
  /** Value of `JSR_URL`. */
  readonly url: string;
  /** Paths of the files that were downloaded, relative to the package. */
  readonly files: readonly string[];
}

interface PackageConfig {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ts: "application/typescript",
  js: "application/javascript",
  json: "application/json",
};

/** Starts a registry that has the built package only. */
export async function startPackageRegistry(): Promise<PackageRegistry> {
  const { name, version, exports }: PackageConfig = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", packageDirectory)),
  );
  const manifest = await listChecksums();
  const files: string[] = [];
  const documents = new Map<string, unknown>([
    [`/${name}/meta.json`, { latest: version, versions: { [version]: {} } }],
    [`/${name}/${version}_meta.json`, { manifest, exports }],
  ]);
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { pathname } = new URL(request.url);
      const document = documents.get(pathname);
      if (document !== undefined) return Response.json(document);
      const path = pathname.replace(`/${name}/${version}/`, "");
      if (!Object.hasOwn(manifest, `/${path}`)) return new Response(null, { status: 404 });
      files.push(path);
      const type = MEDIA_TYPES[path.slice(path.lastIndexOf(".") + 1)] ?? "text/plain";
      const bytes = await Deno.readFile(new URL(path, packageDirectory));
      return new Response(bytes, { headers: { "content-type": type } });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    files,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Describes the files of the package by their paths, as JSR does. */
async function listChecksums(): Promise<Record<string, { size: number; checksum: string }>> {
  const entries: [string, { size: number; checksum: string }][] = [];
  for await (const path of walkPackage("")) {
    const bytes = await Deno.readFile(new URL(path, packageDirectory));
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
    entries.push([`/${path}`, { size: bytes.length, checksum: `sha256-${digest}` }]);
  }
  return Object.fromEntries(entries);
}

async function* walkPackage(directory: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(new URL(directory, packageDirectory))) {
    if (isDirectory) yield* walkPackage(`${directory}${name}/`);
    else yield `${directory}${name}`;
  }
}
