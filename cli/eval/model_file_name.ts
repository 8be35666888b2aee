/**
 * The part of a file name that names one of several models.
 *
 * @module
 */

/** Returns the id of a model as a part of a file name; with its provider if another model has the same id. */
export function getModelFileName(model: string, models: readonly string[]): string {
  const isUnique = models.filter((other) => getId(other) === getId(model)).length < 2;
  return isUnique ? getId(model) : toFileName(model);
}

function getId(model: string): string {
  return toFileName(model.slice(model.indexOf("/") + 1));
}

function toFileName(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9._-]+/g, "-");
}

/** Adds a name to that of a file: `report.html` becomes `report.gpt-6.2-sol.html`. */
export function addToFileName(path: string, name: string): string {
  const [, stem = path, extension = ""] = /^(.*?)(\.[^./\\]+)?$/s.exec(path) ?? [];
  return `${stem}.${name}${extension}`;
}
