// All files import `typebox` through this one, because the build bundles it with the library. Node takes half a second
// to resolve and read the 700 files of the library, and 20 ms for one file.
export {
  type Static,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
} from 'typebox'
export { Compile } from 'typebox/compile'
