{{- /* The pod of the server, the same in the Deployment and in the StatefulSet. */ -}}
{{- define "catraca.pod" -}}
metadata:
  labels:
    {{- include "catraca.labels" . | nindent 4 }}
    app.kubernetes.io/component: server
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    checksum/config: {{ toJson .Values.config | sha256sum }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "catraca.serviceAccountName" . }}
  automountServiceAccountToken: false
  # Otherwise Kubernetes sets CATRACA_PORT=tcp://… for a service of this name.
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ include "catraca.graceSeconds" . }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    {{- toYaml .Values.podSecurityContext | nindent 4 }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if .Values.topologySpread.enabled }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: {{ .Values.topologySpread.whenUnsatisfiable }}
      labelSelector:
        matchLabels:
          {{- include "catraca.matchLabels" . | nindent 10 }}
          app.kubernetes.io/component: server
  affinity:
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 100
          podAffinityTerm:
            topologyKey: kubernetes.io/hostname
            labelSelector:
              matchLabels:
                {{- include "catraca.matchLabels" . | nindent 16 }}
                app.kubernetes.io/component: server
  {{- end }}
  containers:
    - name: catraca
      image: {{ include "catraca.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: [serve]
      ports:
        - name: http
          containerPort: 8080
      env:
        {{- include "catraca.serverEnv" . | nindent 8 }}
      # /live asks no store, so that a store that is down restarts nobody.
      livenessProbe:
        httpGet: { path: /live, port: http }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /ready, port: http }
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: 2
      # Opening a large embedded store takes a while.
      startupProbe:
        httpGet: { path: /live, port: http }
        periodSeconds: 2
        failureThreshold: 150
      lifecycle:
        preStop:
          exec:
            command: [sleep, {{ .Values.shutdown.preStopSeconds | int64 | quote }}]
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        {{- toYaml .Values.securityContext | nindent 8 }}
      volumeMounts:
        - { name: config, mountPath: /etc/catraca, readOnly: true }
        {{- if include "catraca.secretSources" . }}
        - { name: secrets, mountPath: /run/secrets/catraca, readOnly: true }
        {{- end }}
        - { name: spool, mountPath: /tmp }
        {{- if include "catraca.embedded" . }}
        # Around the data and not upon it: `catraca restore` cannot rename a mount.
        - { name: data, mountPath: {{ trimPrefix "embedded:" .Values.store.url | trimSuffix "/" | dir | quote }} }
        {{- end }}
  volumes:
    {{- include "catraca.volumes" . | nindent 4 }}
    {{- with include "catraca.secretSources" . }}
    - name: secrets
      projected:
        # 0440: the group is fsGroup.
        defaultMode: 288
        sources:
          {{- . | nindent 10 }}
    {{- end }}
{{- end -}}
