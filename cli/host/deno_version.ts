/** The oldest version of Deno that the program runs on: earlier ones do not import texts, which `swink demo` embeds. */
const OLDEST = { major: 2, minor: 8 };

/** Returns what to do about a version of Deno that is too old; `undefined` for others. */
export function describeOldDeno(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > OLDEST.major || (major === OLDEST.major && minor >= OLDEST.minor)) return undefined;
  return `Deno ${version} is too old: swink needs Deno ${OLDEST.major}.${OLDEST.minor} or later. ` +
    "Update it: deno upgrade, or where npm has installed it, npm install --global deno@latest";
}
