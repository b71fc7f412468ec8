// npm.mjs - find npm's packages for the tests: in $STDCL_NPM, the folder of `make deps-view`
// (build/npm).
// SPDX-License-Identifier: MIT
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const folder = process.env.STDCL_NPM || path.join(path.dirname(fileURLToPath(import.meta.url)), "../../build/npm");

// Return a package, or throw the reason why it is missing.
export function packageOf(name) {
  return createRequire(path.join(folder, "package.json"))(name);
}

export function fileOf(name) {
  return createRequire(path.join(folder, "package.json")).resolve(name);
}

export function havePackages(...names) {
  return names.every((name) => {
    try {
      return Boolean(fileOf(name));
    } catch {
      return false;
    }
  });
}
