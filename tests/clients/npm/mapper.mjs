// SPDX-License-Identifier: Apache-2.0
// Holds an answer against what the client itself says it should be: the mappers that its serializer reads answers
// with (required and read-only fields, types, discriminators), and the known values of enumerations, which only
// its type declarations tie to fields.
import {readFileSync} from 'node:fs';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const SPAN = /^-?P(?=.)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const ofType = (name) => (value) => typeof value === name || `is not a ${name}`;
const ofForm = (form, name) => (value) => (typeof value === 'string' && form.test(value)) || `is not a ${name}`;
const PLAIN = {
  String: ofType('string'),
  Boolean: ofType('boolean'),
  Number: ofType('number'),
  TimeSpan: ofForm(SPAN, 'duration'),
  DateTime: ofForm(TIME, 'time'),
  Uuid: ofForm(UUID, 'UUID'),
  any: () => true,
  Object: (value) => isObject(value) || 'is not an object',
};

/** "Compute.provisioningState" -> the values the client knows, read from its declarations. */
export function knownValues(declarations, exported) {
  const text = readFileSync(declarations, 'utf8');
  const fields = new Map(),
    bases = new Map();
  for (const [, name, parents, body] of text.matchAll(
    /declare interface (\w+)(?: extends ([\w, ]+))? \{([\s\S]*?)\n\}/g,
  )) {
    bases.set(name, parents ? parents.split(', ') : []);
    for (const [, field, type] of body.matchAll(/^ {4}(?:readonly )?(\w+)\??: (\w+)(?:\[\])?(?: \| null)?;/gm)) {
      const known = exported[`Known${type}`];
      if (known) fields.set(`${name}.${field}`, new Set(Object.values(known)));
    }
  }
  const find = (name, field) =>
    fields.get(`${name}.${field}`) ?? (bases.get(name) ?? []).map((base) => find(base, field)).find(Boolean);
  return find;
}

export class Checker {
  /** `absent` has the read-only fields ("Workspace.notebookInfo") that may be missing, and why. */
  constructor(models, known, absent = {}) {
    Object.assign(this, {models, known, absent, fields: 0, enums: 0});
  }

  /** What is wrong with the answer, in sentences. */
  check(mapper, answer) {
    this.problems = [];
    this.value(mapper, answer, 'answer', undefined);
    return this.problems;
  }

  value(mapper, value, path, known) {
    this.fields++;
    const {type} = mapper;
    if (value === null) {
      if (!mapper.nullable) this.problems.push(`${path} is null`);
    } else if (type.name === 'Composite') {
      this.composite(type, value, path);
    } else if (type.name === 'Sequence') {
      if (!Array.isArray(value)) return this.problems.push(`${path} is not a list`);
      value.forEach((each, index) => this.value(type.element, each, `${path}[${index}]`, known));
    } else if (type.name === 'Dictionary') {
      if (!isObject(value)) return this.problems.push(`${path} is not an object`);
      for (const [key, each] of Object.entries(value)) this.value(type.value, each, `${path}.${key}`, known);
    } else {
      this.plain(type, value, path, known);
    }
  }

  plain(type, value, path, known) {
    const values = type.name === 'Enum' ? new Set(type.allowedValues) : known;
    if (values) {
      this.enums++;
      if (!values.has(value)) this.problems.push(`${path} is '${value}', none of ${[...values].join(', ')}`);
      return;
    }
    if (!PLAIN[type.name]) throw new Error(`the checker does not know ${type.name}`);
    const verdict = PLAIN[type.name](value);
    if (verdict !== true) this.problems.push(`${path} ${verdict}: ${JSON.stringify(value)}`);
  }

  composite(type, value, path) {
    if (!isObject(value)) return this.problems.push(`${path} is not an object`);
    const model = this.resolve(type, value, path);
    for (const [name, field] of Object.entries(model.modelProperties ?? {})) {
      const keys = field.serializedName.split(/(?<!\\)\./).map((key) => key.replaceAll('\\.', '.'));
      const found = keys.reduce((inner, key) => (isObject(inner) ? inner[key] : undefined), value);
      const where = `${path}.${keys.join('.')}`;
      if (found !== undefined) {
        this.value(field, found, where, this.known(model.className, name));
      } else if (field.required || (field.readOnly && !this.may_lack(model, name))) {
        this.problems.push(
          `${where} is missing, a ${field.required ? 'required' : 'read-only'} field of ${model.className}`,
        );
      }
    }
  }

  may_lack(model, name) {
    return `${model.className}.${name}` in this.absent || `*.${name}` in this.absent;
  }

  /** The model of the discriminator's value, where there is one. */
  resolve(type, value, path) {
    const model = this.models[type.className].type;
    const discriminator = model.polymorphicDiscriminator?.serializedName;
    if (!discriminator) return model;
    const wanted = value[discriminator];
    const found = this.named(model, wanted) ?? this.alike(discriminator, wanted);
    if (!found) this.problems.push(`${path}.${discriminator} is '${wanted}', which the client does not know`);
    this.enums++;
    return found ? found.type : model;
  }

  named(model, wanted) {
    return [model.className, model.uberParent]
      .map((name) => this.models.discriminators[`${name}.${wanted}`])
      .find(Boolean);
  }

  /** Inputs and outputs of jobs stand under another parent's name, where the client itself does not find them. */
  alike(discriminator, wanted) {
    return Object.values(this.models.discriminators).find(
      (mapper) => mapper.serializedName === wanted && discriminator in mapper.type.modelProperties,
    );
  }
}
