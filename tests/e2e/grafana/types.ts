// SPDX-License-Identifier: MIT
// What a dashboard may consist of, as JSON: Grafana's published types, and in place of what they leave open (options, custom
// fields, queries) the types of the panels and data sources that are used. An unknown member is an error everywhere.

import type * as grafana from "@grafana/schema";
import type { Action, DataLink, DataTransformerInfo, FieldMatcherID, standardTransformers } from "@grafana/data";
import type { PromQuery, PromVariableQuery } from "@grafana/prometheus";
import type * as bargauge from "./node_modules/@grafana/schema/dist/types/raw/composable/bargauge/panelcfg/x/types.gen";
import type * as stat from "./node_modules/@grafana/schema/dist/types/raw/composable/stat/panelcfg/x/types.gen";
import type * as table from "./node_modules/@grafana/schema/dist/types/raw/composable/table/panelcfg/x/types.gen";
import type * as text from "./node_modules/@grafana/schema/dist/types/raw/composable/text/panelcfg/x/types.gen";
import type * as timeseries from "./node_modules/@grafana/schema/dist/types/raw/composable/timeseries/panelcfg/x/types.gen";

// A type as it is in JSON: members of an enumeration as their values, no functions.
type Json<T> = unknown extends T ? T : T extends string ? `${T}` : T extends number | boolean | null | undefined ? T :
    T extends (...words: never[]) => unknown ? never : T extends (infer Item)[] ? Json<Item>[] :
    T extends object ? { [Key in keyof T]: Json<T[Key]> } : T;
type Replace<T, Members> = Json<Omit<T, keyof Members>> & Members;
type Source<Id> = { type: Id, uid: string };

type Defaults<Custom> = Replace<grafana.FieldConfig,
    { custom?: Json<Custom>, links?: Json<DataLink>[], actions?: Json<Action>[] }>;
type Matcher = { id: Extract<`${FieldMatcherID}`, "byName" | "byRegexp" | "byType" | "byFrameRefID">, options: string };
// An override sets what the defaults set, by its path.
type Paths<Custom> =
    Omit<Defaults<Custom>, "custom"> & { [Key in keyof Custom & string as `custom.${Key}`]: Json<Custom[Key]> };
type Property<Custom> = { [Path in keyof Paths<Custom>]-?: { id: Path, value: Exclude<Paths<Custom>[Path], undefined> } }[
    keyof Paths<Custom>];
type Fields<Custom> = { defaults: Defaults<Custom>, overrides: { matcher: Matcher, properties: Property<Custom>[] }[] };

type Options<Key extends keyof typeof standardTransformers> =
    (typeof standardTransformers)[Key] extends DataTransformerInfo<infer Found> ? Json<Found> : never;
type Transformers = { filterFieldsByName: "filterFieldsByNameTransformer", groupBy: "groupByTransformer",
    joinByField: "joinByFieldTransformer", labelsToFields: "labelsToFieldsTransformer", limit: "limitTransformer",
    merge: "mergeTransformer", organize: "organizeFieldsTransformer", reduce: "reduceTransformer",
    renameByRegex: "renameByRegexTransformer", sortBy: "sortByTransformer" };
// This one is in no package.
type Extraction = { source: string, format: "auto" | "kvp" | "regexp", regExp?: string, replace?: boolean, keepTime?: boolean };
type ExtractFields = { id: "extractFields", options: Extraction };
type Transformation =
    { [Id in keyof Transformers]: { id: Id, options: Options<Transformers[Id]> } }[keyof Transformers] | ExtractFields;

type Panel<Type, Settings, Custom, Id, Query> = Replace<grafana.Panel, {
    type: Type, title: string, gridPos: grafana.GridPos, datasource: Source<Id>, options: Json<Settings>,
    fieldConfig: Fields<Custom>, targets: Query[], transformations?: Transformation[] }>;
type Text = Replace<grafana.Panel, { type: "text", gridPos: grafana.GridPos, options: Json<text.Options> }>;
type Nothing = Record<never, never>;
type AnyPanel<Id, Query> = Panel<"timeseries", timeseries.Options, timeseries.FieldConfig, Id, Query> |
    Panel<"table", table.Options, table.FieldConfig, Id, Query> | Panel<"bargauge", bargauge.Options, Nothing, Id, Query> |
    Panel<"stat", stat.Options, Nothing, Id, Query> | Text;
type Row<Id, Query> = Replace<grafana.RowPanel, { panels: AnyPanel<Id, Query>[] }>;

type Variable<Id, Query> = Replace<grafana.VariableModel, { type: "query", datasource: Source<Id>, query: string | Query }> |
    Replace<grafana.VariableModel, { type: "datasource", query: Id, datasource?: never }> |
    Replace<grafana.VariableModel, { type: "custom" | "constant" | "textbox" | "interval", query: string, datasource?: never }>;

type Dashboard<Id, Query, Choice> = Replace<grafana.Dashboard, {
    uid: string, title: string, panels: (AnyPanel<Id, Query> | Row<Id, Query>)[],
    templating: { list: Variable<Id, Choice>[] } }>;

// Queries of Graphite and InfluxDB are in no package: these are the members of one that is written in the store's language.
type Query<Id> = { refId: string, datasource?: Source<Id>, hide?: boolean };
type GraphiteQuery = Query<"graphite"> & { target: string, textEditor?: boolean };
type InfluxQuery = Query<"influxdb"> & { query: string, rawQuery: true, resultFormat: "time_series" | "table", alias?: string };

type PrometheusQuery = Replace<PromQuery, { refId: string, datasource?: Source<"prometheus"> }>;
export type prometheus = Dashboard<"prometheus", PrometheusQuery, Json<PromVariableQuery>>;
export type graphite = Dashboard<"graphite", GraphiteQuery,
    { query?: string, target?: string, queryType?: "Default", refId: string }>;
export type influxdb = Dashboard<"influxdb", InfluxQuery, { query: string, refId: string }>;
