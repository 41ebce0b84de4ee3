/**
 * What plugins of other authors import, as `voice-service/plugin`: the definition of a plugin, its settings and routes, and the schemas,
 * errors and limits that the plugins of this build share.
 */

export { Type } from '@sinclair/typebox';
export {
  ignored,
  integer,
  list,
  requiredText,
  secretVariable,
  section,
  text,
} from '../config/section.ts';
export { invalidRequest, ServiceError } from '../contract/core/error.ts';
export { mayBeId, newId } from '../contract/core/id.ts';
export { requireModel } from '../contract/model-table.ts';
export type { Slots } from '../contract/plugin.ts';
export type { Route } from '../contract/route.ts';
export { checkedResponse } from '../http/openapi/operation.ts';
export {
  idParameter,
  jsonBody,
  jsonResponse,
  pathParameter,
  queryParameter,
} from '../http/openapi/route-docs.ts';
export { checkedBody } from '../http/request/json-body.ts';
export { listBody } from '../http/response/bodies.ts';
export { route, strictBody } from '../http/route.ts';
export { modelReports, readyWithAnyModel } from '../kit/lifecycle/readiness.ts';
export { OpenRequests } from '../kit/limits/open-requests.ts';
export { definePlugin } from './define-plugin.ts';
